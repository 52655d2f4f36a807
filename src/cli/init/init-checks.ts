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

/** Each file, and the command that runs the tests of a project that has it, where `isFor` says so of its text. */
const runners: readonly { file: string; command: string; isFor: (text: string) => boolean }[] = [
  { file: 'package.json', command: 'npm test', isFor: hasNpmTest },
  { file: 'pytest.ini', command: 'pytest', isFor: () => true },
  { file: 'pyproject.toml', command: 'pytest', isFor: (text) => text.includes('pytest') },
  { file: 'Cargo.toml', command: 'cargo test', isFor: () => true },
  { file: 'go.mod', command: 'go test ./...', isFor: () => true },
  { file: 'Makefile', command: 'make test', isFor: (text) => /^test\s*:(?!=)/m.test(text) },
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
  const keyOf = (path: string): string =>
    Object.keys(known).find((key) => expandHome(key, homeDir) === expandHome(path, homeDir)) ?? path;
  const found = (await Promise.all(roots.map((root) => testsIn(root, homeDir)))).flat();
  const offered = found
    .map(({ path, commands }) => ({ value: keyOf(path), label: path, hint: commands.join(', '), commands }))
    .filter(({ value }) => known[value]?.['checks'] === undefined)
    .slice(0, MAX_OFFERED);
  if (offered.length === 0) return [];
  const chosen = await questions.choose(QUESTION, offered);
  return offered
    .filter(({ value }) => chosen.includes(value))
    .map(({ value, commands }) => ({
      path: ['projects', value, 'checks'],
      value: commands.map((command) => ({ name: command, command })),
    }));
}

/** The commands for the root where it has some, else for the folders in it. */
async function testsIn(root: string, homeDir: string) {
  const own = await testsOf(root, homeDir);
  if (own.commands.length > 0) return [own];
  // A root that cannot be read has no projects.
  const entries = await readdir(expandHome(root, homeDir), { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).slice(0, MAX_FOLDERS);
  const paths = folders.map(({ name }) => join(root, name)).sort();
  const all = await Promise.all(paths.map((path) => testsOf(path, homeDir)));
  return all.filter(({ commands }) => commands.length > 0);
}

async function testsOf(path: string, homeDir: string) {
  const commands = new Set<string>();
  for (const { file, command, isFor } of runners) {
    // A file that cannot be read offers nothing.
    const read = await readRegularFile(join(expandHome(path, homeDir), file), MAX_BYTES).catch(
      () => undefined,
    );
    if (read?.state === 'ok' && isFor(read.bytes.toString('utf8'))) commands.add(command);
  }
  return { path, commands: [...commands] };
}

function hasNpmTest(text: string): boolean {
  const read = readJsonText(text, { comments: false, trailingCommas: false });
  const file = packageFile.safeParse(read.kind === 'value' ? read.value : undefined);
  return file.success && !file.data.scripts.test.includes(NO_NPM_TEST);
}
