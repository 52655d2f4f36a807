import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readRegularFile } from '../../base/files/regular-file.js';
import { readJsonText, type JsonEdit } from '../../config/json-text.js';
import { expandHome } from '../../config/places.js';
import type { Questions } from '../questions.js';

/** Of a file that is read; more is no file that a person wrote. */
const MAX_BYTES = 1_048_576;
/** Folders of a root that are searched, and projects that are offered: a person reads the list. */
const MAX_FOLDERS = 500;
const MAX_OFFERED = 20;
/** What `npm init` writes into a new package.json. */
const NO_NPM_TEST = 'no test specified';
const QUESTION =
  'Which of these show that the work is done? Each is run when an agent says so, and runs whatever the agent has written.';
const packageFile = z.looseObject({ scripts: z.looseObject({ test: z.string() }) });

/** Each file, and the command that runs the tests of a project that has it, where its text says so. */
const runners: readonly (readonly [file: string, command: string, isFor?: (text: string) => boolean])[] = [
  ['package.json', 'npm test', hasNpmTest],
  ['pytest.ini', 'pytest'],
  ['pyproject.toml', 'pytest', (text) => text.includes('pytest')],
  ['Cargo.toml', 'cargo test'],
  ['go.mod', 'go test ./...'],
  ['Makefile', 'make test', (text) => /^test\s*:(?!=)/m.test(text)],
];

/**
 * Offers the commands that run the tests of projects as their checks: of each root, or of the folders in it. `projects`: those of the
 * settings; what has checks there is not offered. Throws Cancelled.
 */
export async function askChecks(
  questions: Questions,
  roots: readonly string[],
  projects: unknown,
  homeDir: string,
): Promise<readonly JsonEdit[]> {
  const known = z.record(z.string(), z.record(z.string(), z.unknown())).parse(projects ?? {});
  const real = (path: string): string => expandHome(path, homeDir);
  const found = (await Promise.all(roots.map((root) => testsIn(root, real)))).flat();
  const offered = found
    .map(({ path, commands }) => {
      const value = Object.keys(known).find((key) => real(key) === real(path)) ?? path;
      return { value, label: path, hint: commands.join(', '), commands };
    })
    .filter(({ value, commands }) => commands.length > 0 && known[value]?.['checks'] === undefined)
    .slice(0, MAX_OFFERED);
  const chosen = offered.length === 0 ? [] : await questions.choose(QUESTION, offered);
  return offered
    .filter(({ value }) => chosen.includes(value))
    .map(({ value, commands }) => ({
      path: ['projects', value, 'checks'],
      value: commands.map((command) => ({ name: command, command })),
    }));
}

/** The commands for the root where it has some, else for the folders in it. */
async function testsIn(root: string, real: (path: string) => string) {
  const own = await testsOf(root, real);
  if (own.commands.length > 0) return [own];
  // A root that cannot be read has no projects.
  const entries = await readdir(real(root), { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).slice(0, MAX_FOLDERS);
  const paths = folders.map(({ name }) => join(root, name)).sort();
  return Promise.all(paths.map((path) => testsOf(path, real)));
}

async function testsOf(path: string, real: (path: string) => string) {
  const commands = new Set<string>();
  for (const [file, command, isFor = () => true] of runners) {
    // A file that cannot be read offers nothing.
    const read = await readRegularFile(join(real(path), file), MAX_BYTES).catch(() => undefined);
    if (read?.state === 'ok' && isFor(read.bytes.toString('utf8'))) commands.add(command);
  }
  return { path, commands: [...commands] };
}

function hasNpmTest(text: string): boolean {
  const read = readJsonText(text, { comments: false, trailingCommas: false });
  const file = packageFile.safeParse(read.kind === 'value' ? read.value : undefined);
  return file.success && !file.data.scripts.test.includes(NO_NPM_TEST);
}
