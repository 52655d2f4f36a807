import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killMarked } from '../../tests/harness/marked-processes.js';

/** The largest fixtures and recordings of tests that run at the same time, with room to spare. */
const NEEDED_BYTES = 1024 ** 3;
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const never = new Promise<never>(() => undefined);

export interface StepResult {
  readonly name: string;
  readonly isGreen: boolean;
  readonly seconds: number;
  /** What the tests left out, each with the command that adds it. */
  readonly leftOut?: readonly string[];
  /** Tests that passed at their second try. */
  readonly flaky?: readonly string[];
}

/**
 * A run of the check, and its temp folder, which all that the run starts carries in its environment. An interrupt ends these
 * processes, those that left their process group, too, and then this one.
 */
export class CheckRun {
  readonly #root: string;
  readonly #folder: string;
  #isOver = false;

  private constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
    for (const [signal, code] of Object.entries(signals))
      process.once(signal, () => {
        this.#isOver = true;
        process.stdout.write('check: interrupted\n');
        void this.end().finally(() => process.exit(code));
      });
  }

  /** `root` is the checkout. Throws in one sentence when the temp folder cannot be used or has less than 1 GiB. */
  static async begin(root: string): Promise<CheckRun> {
    const parent = tmpdir();
    const advice = 'Free some, or set TMPDIR to another folder.';
    try {
      const { bavail, bsize } = await statfs(parent);
      // A short name: paths of sockets have about 100 characters.
      if (bavail * bsize >= NEEDED_BYTES)
        return new CheckRun(root, await realpath(await mkdtemp(join(parent, 's-'))));
      throw new Error(
        `check needs 1 GiB in the temp folder ${parent}, which has ${Math.floor((bavail * bsize) / 1024 ** 2)} MiB. ${advice}`,
      );
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause)) throw cause;
      const words = `check cannot use the temp folder ${parent} (${String(cause.code)}). ${advice}`;
      throw new Error(words, { cause });
    }
  }

  /** Runs a command; its output is ours. Never rejects, and after an interrupt never resolves. */
  async step(
    name: string,
    [program, ...args]: readonly [string, ...string[]],
    env: Readonly<Record<string, string>> = {},
  ): Promise<StepResult> {
    if (this.#isOver) return never;
    const startMs = performance.now();
    const child = spawn(program, args, {
      cwd: this.#root,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CHECK_FOLDER: this.#folder, ...env },
    });
    const isGreen = await once(child, 'exit').then(
      ([code]) => code === 0,
      (error: unknown) => {
        process.stderr.write(`${name} did not start: ${String(error)}\n`);
        return false;
      },
    );
    if (this.#isOver) return never;
    const seconds = (performance.now() - startMs) / 1000;
    process.stdout.write(`check: ${name} ${isGreen ? 'passed' : 'FAILED'} in ${Math.round(seconds)} s\n`);
    return { name, isGreen, seconds };
  }

  /** Ends what was started and still runs, and removes the folder. */
  async end(): Promise<void> {
    await killMarked(this.#folder);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
