// `npm run check`: types, lint, formatting, build, then the tests of the gate. `npm run check:all [-- PART…]`: the long form.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { needNames, needs } from '../../tests/harness/need-table.js';
import { gate, longParts, type TestPart } from './long-parts.js';
import { resultsFolder, writeResult } from './results.js';
import { RunFolder } from './run-folder.js';
import { runStep, summary, type StepResult } from './run-step.js';

const root = join(import.meta.dirname, '..', '..');

/** Written by tests/harness/gate-reporter.ts. */
const testsSchema = z.object({ missing: z.array(z.enum(needNames)), flaky: z.array(z.string()) });

/** npm scripts, one after the other. */
async function lane(folder: RunFolder, names: readonly string[]): Promise<StepResult[]> {
  const done: StepResult[] = [];
  for (const name of names)
    done.push(await runStep({ name, command: ['npm', 'run', '--silent', name], folder, root }));
  return done;
}

/** Runs a part; adds what it left out and what was flaky, and keeps the result. */
async function runTests(part: TestPart, folder: RunFolder): Promise<StepResult> {
  const file = join(resultsFolder(root), `${part.name}.tests.json`);
  await rm(file, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const flags = part.projects.flatMap((project) => ['--project', project]);
  const result = await runStep({
    name: part.name,
    command: [process.execPath, vitest, 'run', ...flags],
    folder,
    root,
    env: { ...part.env, CHECK_RESULT: file },
  });
  // A run that was ended early wrote nothing.
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { ...result, isGreen: false };
  const { missing, flaky } = testsSchema.parse(JSON.parse(text));
  const leftOut = missing
    .filter((name) => part.needs.includes(name))
    .map((name) => `${part.name}: what needs ${needs[name].title}; to add it: ${needs[name].add}`);
  return { ...result, leftOut, flaky };
}

async function runGate(folder: RunFolder): Promise<StepResult[]> {
  const lint = lane(folder, ['lint:code']);
  const first = await lane(folder, ['build', 'typecheck', 'lint:format']);
  const tests = first[0]?.isGreen === true ? [await runTests(gate, folder)] : [];
  return [...first, ...(await lint), ...tests];
}

async function runLong(folder: RunFolder, names: readonly string[]): Promise<StepResult[]> {
  const results = await lane(folder, ['build']);
  if (!results.every(({ isGreen }) => isGreen)) return results;
  for (const part of longParts.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const result = await runTests(part, folder);
    await writeResult(root, result.name, result);
    results.push(result);
  }
  return results;
}

/** Why these words cannot be followed. */
function wrongWords(isLong: boolean, names: readonly string[]): string | undefined {
  if (!isLong && names.length > 0)
    return `check takes no arguments; it was given ${names.join(' ')}. For a part of the long form: npm run check:all -- <part>.`;
  const parts = longParts.map(({ name }) => name);
  const unknown = names.filter((name) => !parts.includes(name));
  if (unknown.length === 0) return undefined;
  return `check:all has no part ${unknown.join(', ')}. Its parts are: ${parts.join(', ')}.`;
}

async function main(words: readonly string[]): Promise<number> {
  const isLong = words[0] === '--all';
  const names = isLong ? words.slice(1) : words;
  const wrong = wrongWords(isLong, names);
  if (wrong !== undefined) {
    process.stderr.write(`${wrong}\n`);
    return 64;
  }
  const startMs = performance.now();
  const folder = await RunFolder.make();
  try {
    const steps = await (isLong ? runLong(folder, names) : runGate(folder));
    const seconds = (performance.now() - startMs) / 1000;
    if (folder.isOver) {
      process.stdout.write('check: interrupted\n');
      return 130;
    }
    const isGreen = steps.every((step) => step.isGreen);
    const name = isLong ? 'check:all' : 'check';
    if (!isLong) await writeResult(root, 'check', { name, isGreen, seconds, steps });
    process.stdout.write(summary({ name, isGreen, seconds }, steps));
    if (isLong) process.stdout.write(`results: ${resultsFolder(root)}\n`);
    return isGreen ? 0 : 1;
  } finally {
    await folder.remove();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
