// `npm run check`: types, lint, formatting, build, then the tests of the gate. `npm run check:all`: the long form.
import { cpus } from 'node:os';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { longParts, partNames } from './long-parts.js';
import { RunFolder } from './run-folder.js';
import { runStep, type StepResult } from './run-step.js';
import { resultOf, summary, writeResult } from './summary.js';

const root = join(import.meta.dirname, '..', '..');
const RESULT = join(root, '.cache', 'check');
const GATE = ['unit', 'parts', 'journeys', 'browser'] as const;

const testsSchema = z.object({ leftOut: z.array(z.string()), flaky: z.array(z.string()) });

/** Steps of one lane run one after the other; the lanes run side by side. */
async function lanes(folder: RunFolder, ...all: readonly (readonly string[])[]): Promise<StepResult[]> {
  const results = await Promise.all(
    all.map(async (lane) => {
      const done: StepResult[] = [];
      for (const name of lane)
        done.push(await runStep({ name, command: ['npm', 'run', '--silent', name], folder, root }));
      return done;
    }),
  );
  return results.flat();
}

/** Runs vitest on `projects`; adds what it left out and what was flaky. */
async function runTests(
  name: string,
  projects: readonly string[],
  folder: RunFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<StepResult> {
  const file = join(RESULT, `${name}.json`);
  await rm(file, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const flags = projects.flatMap((project) => ['--project', project]);
  const command = [process.execPath, vitest, 'run', ...flags] as const;
  const result = await runStep({ name, command, folder, root, env: { ...env, CHECK_RESULT: file } });
  // A run that was ended early wrote nothing.
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { ...result, isGreen: false };
  return { ...result, ...testsSchema.parse(JSON.parse(text)) };
}

async function gate(folder: RunFolder): Promise<StepResult[]> {
  const first = await lanes(folder, ['typecheck', 'lint:format', 'build'], ['lint:code']);
  const isBuilt = first.some(({ name, isGreen }) => name === 'build' && isGreen);
  return isBuilt ? [...first, await runTests('tests', GATE, folder)] : first;
}

async function long(folder: RunFolder, names: readonly string[]): Promise<StepResult[]> {
  const results = await lanes(folder, ['build']);
  for (const part of longParts.filter(({ name }) => names.length === 0 || names.includes(name)))
    results.push(await runTests(part.name, part.projects, folder, part.env));
  return results;
}

async function main(words: readonly string[]): Promise<number> {
  const isLong = words[0] === '--all';
  const names = isLong ? words.slice(1) : words;
  const unknown = names.filter((name) => !isLong || !partNames.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(
      isLong
        ? `check:all has no part ${unknown.join(', ')}. Its parts are: ${partNames.join(', ')}.\n`
        : `check takes no arguments; it was given ${unknown.join(' ')}. For one part of the long form: npm run check:all -- <part>.\n`,
    );
    return 64;
  }
  const startMs = performance.now();
  const folder = await RunFolder.make();
  try {
    const steps = isLong ? await long(folder, names) : await gate(folder);
    const result = resultOf(
      isLong ? 'check:all' : 'check',
      steps,
      performance.now() - startMs,
      cpus().length,
    );
    await writeResult(join(RESULT, isLong ? 'all.json' : 'gate.json'), result);
    process.stdout.write(summary(result));
    return result.isGreen ? 0 : 1;
  } finally {
    await folder.remove();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
