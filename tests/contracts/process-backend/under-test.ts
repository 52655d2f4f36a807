import type { ProcessBackend, ProcessHandle, ProcessSpec } from '../../../src/processes/process-handle.js';
import type { OutputSink, OutputStream, TerminalSize } from '../../../src/pty/child.js';

/** Programs besides `sh` and `cat`, where the place has them; their tests are left out elsewhere. */
export interface Programs {
  readonly vi?: string;
  readonly node?: string;
}

/** What the suite is told of a backend before it runs. */
export interface BackendFacts {
  readonly programs: Programs;
  /** Whether a process can leave another behind: a container takes everything with it. */
  readonly leavesBehind: boolean;
  /** How many processes the tests with many at once start; each costs a container its start. */
  readonly many: number;
  /** How many processes print and end at once, one after another. */
  readonly exits: number;
  /** The tests run some at a time: a container costs each its start, most of which is waiting. Then `open` must not ask which test asks. */
  readonly sideBySide: boolean;
}

export interface SpecOptions {
  readonly tty?: TerminalSize;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface BackendUnderTest {
  readonly backend: ProcessBackend;
  /** A spec that the backend takes, with an id of its own, an environment with a PATH, and a folder that can be written to. */
  readonly spec: (command: readonly [string, ...string[]], options?: SpecOptions) => ProcessSpec;
}

/** Makes a backend for a test. `alone`: the test disposes it, so that nobody else may have it. What a test starts is ended with it. */
export type OpenBackend = (needs?: { readonly alone: boolean }) => Promise<BackendUnderTest>;

/** Collects what a process prints, and lets tests wait for it. */
export class Collector implements OutputSink {
  readonly #chunks: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [], terminal: [] };
  readonly #waiters = new Set<() => void>();
  /** Makes the producer wait; undefined lets it run. */
  hold: (() => Promise<void>) | undefined;
  bytes = 0;

  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined {
    this.#chunks[stream].push(Buffer.from(bytes));
    this.bytes += bytes.length;
    for (const look of [...this.#waiters]) look();
    return this.hold?.();
  }

  raw(stream: OutputStream): Buffer {
    return Buffer.concat(this.#chunks[stream]);
  }

  text(stream: OutputStream): string {
    return this.raw(stream).toString('utf8');
  }

  get all(): string {
    return this.text('stdout') + this.text('stderr') + this.text('terminal');
  }

  /** Resolves when what was printed so far holds the text. */
  async has(wanted: string | RegExp, stream?: OutputStream): Promise<string> {
    const read = (): string => (stream === undefined ? this.all : this.text(stream));
    const found = (): boolean => (typeof wanted === 'string' ? read().includes(wanted) : wanted.test(read()));
    if (!found()) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (!found()) return;
          this.#waiters.delete(look);
          resolve();
        };
        this.#waiters.add(look);
      });
    }
    return read();
  }
}

export interface Started {
  readonly process: ProcessHandle;
  readonly output: Collector;
}

/** The words of a program, or a text of `sh`. */
export type Command = string | readonly [string, ...string[]];

export function wordsOf(command: Command): readonly [string, ...string[]] {
  return typeof command === 'string' ? ['sh', '-c', command] : command;
}

/** Starts it; throws when the backend refuses. */
export async function start(
  test: BackendUnderTest,
  command: Command,
  options?: SpecOptions,
): Promise<Started> {
  const output = new Collector();
  return { process: await test.backend.spawn(test.spec(wordsOf(command), options), output), output };
}

/** Runs a text of `sh` to its end. */
export async function run(test: BackendUnderTest, script: string, options?: SpecOptions) {
  const { process, output } = await start(test, script, options);
  return { exit: await process.exited, output, process };
}

export async function type(process: ProcessHandle, text: string): Promise<void> {
  await process.write(Buffer.from(text));
}
