import { spawn } from 'node:child_process';
import type { RunFolder } from './run-folder.js';

export interface StepResult {
  readonly name: string;
  readonly isGreen: boolean;
  readonly seconds: number;
  /** What the tests left out, each with the command that adds it. */
  readonly leftOut?: readonly string[];
  /** Tests that passed at their second try. */
  readonly flaky?: readonly string[];
}

export interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly folder: RunFolder;
  /** Working directory. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command in a process group of its own, which `folder` owns meanwhile; its output is ours. Never rejects. */
export async function runStep({ name, command, folder, root, env }: Step): Promise<StepResult> {
  if (folder.isOver) return { name, isGreen: false, seconds: 0 };
  const startMs = performance.now();
  const [program, ...args] = command;
  const code = await new Promise<number>((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CHECK_FOLDER: folder.path, ...env },
    });
    const { pid } = child;
    if (pid !== undefined) folder.own(pid);
    const end = (exitCode: number): void => {
      if (pid !== undefined) folder.forget(pid);
      resolve(exitCode);
    };
    child.once('error', (error) => {
      process.stderr.write(`${name} did not start: ${error.message}\n`);
      end(1);
    });
    child.once('exit', (exitCode) => end(exitCode ?? 1));
  });
  const result = { name, isGreen: code === 0, seconds: (performance.now() - startMs) / 1000 };
  if (folder.isOver) return result;
  process.stdout.write(
    `check: ${name} ${result.isGreen ? 'passed' : 'FAILED'} in ${Math.round(result.seconds)} s\n`,
  );
  return result;
}

/** The end of the output: what failed, what was left out, and last what was flaky. */
export function summary(whole: StepResult, steps: readonly StepResult[]): string {
  const failed = steps.filter((step) => !step.isGreen).map(({ name }) => name);
  const verdict = whole.isGreen ? 'passed' : `FAILED: ${failed.join(', ')};`;
  const times = steps.map(({ name, seconds }) => `${name} ${Math.round(seconds)} s`).join(', ');
  return [
    `\n${whole.name} ${verdict} in ${Math.round(whole.seconds)} s (${times})`,
    ...steps.flatMap(({ leftOut = [] }) => leftOut.map((one) => `left out: ${one}`)),
    ...steps.flatMap(({ flaky = [] }) => flaky.map((one) => `flaky: ${one}`)),
    '',
  ].join('\n');
}
