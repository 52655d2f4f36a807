import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StepResult } from './run-step.js';

export interface CheckResult {
  readonly command: string;
  readonly isGreen: boolean;
  readonly seconds: number;
  readonly cores: number;
  readonly steps: readonly StepResult[];
}

export function resultOf(
  command: string,
  steps: readonly StepResult[],
  durationMs: number,
  cores: number,
): CheckResult {
  const isGreen = steps.every((step) => step.isGreen);
  return { command, isGreen, seconds: Math.round(durationMs / 1000), cores, steps };
}

export async function writeResult(path: string, result: CheckResult): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
}

/** The end of the output: what failed, what was left out, and last what was flaky. */
export function summary({ command, isGreen, seconds, steps }: CheckResult): string {
  const failed = steps.filter((step) => !step.isGreen).map(({ name }) => name);
  const leftOut = [...new Set(steps.flatMap((step) => step.leftOut ?? []))];
  const flaky = steps.flatMap((step) => step.flaky ?? []);
  const verdict = isGreen ? 'passed' : `FAILED: ${failed.join(', ')};`;
  return [
    '',
    `${command} ${verdict} in ${seconds} s (${steps.map((step) => `${step.name} ${Math.round(step.seconds)} s`).join(', ')})`,
    ...leftOut.map((one) => `left out: ${one}`),
    ...flaky.map((one) => `flaky: ${one}`),
    '',
  ].join('\n');
}
