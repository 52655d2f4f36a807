// `npm run check`: types, lint, formatting, build, then the tests of the gate. `npm run check:all [-- PART…]`: the long form.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { needNames, needs } from '../../tests/harness/need-table.js';
import { CheckRun, type StepResult } from './check-run.js';
import { gate, longParts, type TestPart } from './long-parts.js';
import { resultsFolder, writeResult } from './results.js';

const root = join(import.meta.dirname, '..', '..');

/** Written by tests/harness/gate-reporter.ts. */
const testsSchema = z.object({ missing: z.array(z.enum(needNames)), flaky: z.array(z.string()) });

/** npm scripts, one after the other. */
async function lane(run: CheckRun, ...names: readonly string[]): Promise<StepResult[]> {
  const done: StepResult[] = [];
  for (const name of names) done.push(await run.step(name, ['npm', 'run', '--silent', name]));
  return done;
}

/** Runs a part; adds what it left out and what was flaky. */
async function runTests(run: CheckRun, part: TestPart): Promise<StepResult> {
  const file = join(resultsFolder(root), `${part.name}.tests.json`);
  await rm(file, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const flags = part.projects.flatMap((project) => ['--project', project]);
  const env = { ...part.env, CHECK_RESULT: file };
  const result = await run.step(part.name, [process.execPath, vitest, 'run', ...flags], env);
  // A run that was ended early wrote nothing.
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { ...result, isGreen: false };
  const { missing, flaky } = testsSchema.parse(JSON.parse(text));
  const leftOut = missing
    .filter((name) => part.needs.includes(name))
    .map((name) => `${part.name}: what needs ${needs[name].title}; to add it: ${needs[name].add}`);
  return { ...result, leftOut, flaky };
}

async function runGate(run: CheckRun): Promise<StepResult[]> {
  const lint = lane(run, 'lint:code');
  const first = await lane(run, 'build', 'typecheck', 'lint:format');
  const tests = first[0]?.isGreen === true ? [await runTests(run, gate)] : [];
  return [...first, ...(await lint), ...tests];
}

async function runLong(run: CheckRun, names: readonly string[]): Promise<StepResult[]> {
  const results = await lane(run, 'build');
  if (results[0]?.isGreen !== true) return results;
  for (const part of longParts.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const result = await runTests(run, part);
    writeResult(root, result.name, result);
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

/** The end of the output: what failed, what was left out, and last what was flaky. */
function summary(name: string, seconds: number, steps: readonly StepResult[]): string {
  const failed = steps.filter(({ isGreen }) => !isGreen);
  const verdict = failed.length === 0 ? 'passed' : `FAILED: ${failed.map((step) => step.name).join(', ')};`;
  const times = steps.map((step) => `${step.name} ${Math.round(step.seconds)} s`).join(', ');
  const lines = [
    `\n${name} ${verdict} in ${Math.round(seconds)} s (${times})`,
    ...steps.flatMap(({ leftOut = [] }) => leftOut.map((one) => `left out: ${one}`)),
    ...steps.flatMap(({ flaky = [] }) => flaky.map((one) => `flaky: ${one}`)),
  ];
  return `${lines.join('\n')}\n`;
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
  const run = await CheckRun.begin(root);
  try {
    const steps = await (isLong ? runLong(run, names) : runGate(run));
    const seconds = (performance.now() - startMs) / 1000;
    const isGreen = steps.every((step) => step.isGreen);
    const name = isLong ? 'check:all' : 'check';
    if (!isLong) writeResult(root, 'check', { name, isGreen, seconds, steps });
    process.stdout.write(summary(name, seconds, steps));
    if (isLong) process.stdout.write(`results: ${resultsFolder(root)}\n`);
    return isGreen ? 0 : 1;
  } finally {
    await run.end();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
});
