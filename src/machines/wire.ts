import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { messageOf, systemCodeOf } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import { shellWord, tailBytes } from '../base/text.js';
import { endAtExit } from '../os/run-program.js';
import { signalGroupOf } from '../os/send-signals.js';
import type { WireScript } from './bridge-start.js';
import { unreachable } from './unreachable.js';

/** What a `.bashrc` may print. */
const MAX_NOISE_BYTES = 256 * 1024;
/** A shell that reads its first line only now gets it again: something before it may have read it. */
const ASK_AGAIN_MS = 3_000;
/** The first time a person may have to touch a key, and a pod may have to start. */
const OPEN_LIMIT_MS = 20_000;
/** Linux takes no longer variable (MAX_ARG_STRLEN), and a shell reads all of the text before it runs it. */
const MAX_VARIABLE_BYTES = 128 * 1024;
const MAX_STDERR_BYTES = 4_096;
/** What the command said longer ago is not why it ends. */
const LAST_WORDS_MS = 5_000;
/** Between SIGTERM and SIGKILL: the far program may be a child of the command, and finishes what it has begun. */
const KILL_GRACE_MS = 5_000;
/** Between the end of the command and the end of its output, which another process may hold open. */
const OUTPUT_GRACE_MS = 500;
const NEWLINE = 0x0a;

export interface WireOptions extends WireScript {
  /** Its name, for errors. */
  readonly machine: string;
  /** Gives a shell's stdin and stdout there; the word `sh` is added. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command: the user's own, since it may need an agent of ssh. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables of the far program. They are sent over stdin, so neither side shows them among the arguments of a process. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Until the far program runs; 20 s when left out. */
  readonly limitMs?: number | undefined;
}

/** The bytes of a program on another machine. Disposing ends the command and all in its process group. */
export interface Wire extends Disposable {
  readonly input: Writable;
  /** Paused: `resume` lets it flow. */
  readonly output: Readable;
  /** Why the command has ended, in its last words if it had any. Never rejects. */
  readonly ended: Promise<string>;
}

/**
 * Runs `<command> sh`, has the shell there run `prepare` and `start`, and resolves when `start` begins: from then on it owns stdin and
 * stdout. All that is printed before is thrown away, within a bound. A shell reads ahead, so nothing is sent while it still reads.
 * Throws MACHINE_UNREACHABLE with the last words of the command, or the signal's reason.
 */
export async function openWire(options: WireOptions): Promise<Wire> {
  const { machine, command, cwd, env, signal } = options;
  signal.throwIfAborted();
  const [program = '', ...args] = command;
  let end: CommandEnd | undefined;
  try {
    // A group of its own: all of it is ended, and no signal of ours reaches it.
    const child = spawn(program, [...args, 'sh'], { cwd, env: { ...env }, stdio: 'pipe', detached: true });
    requirePipes(child);
    end = new CommandEnd(child, program);
    await openShell(child, end, options);
    end.isOpen = true;
    const dispose = end.dispose.bind(end);
    return { input: child.stdin, output: child.stdout, ended: end.why, dispose };
  } catch (thrown) {
    end?.dispose();
    signal.throwIfAborted();
    const code = systemCodeOf(thrown);
    const why = code === undefined ? messageOf(thrown) : `the system does not start ${program} (${code})`;
    throw unreachable(machine, 'not_sent', why);
  }
}

/** Why a wire could not be opened. */
class Fault extends Error {}

/** Throws a Fault where the system has no descriptors left: such a child has no streams, whatever its type says, and its error comes later. */
function requirePipes(child: EventEmitter): void {
  if ('stdio' in child) return;
  child.on('error', () => undefined);
  throw new Fault('the system has no file descriptors left');
}

/** The end of the command: why it comes, and how it is made. */
class CommandEnd implements Disposable {
  /** Until then all that the command says may be why. */
  isOpen = false;
  readonly why: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #atExit: Disposable;
  #words = '';
  #wordsMs = 0;

  constructor(child: ChildProcessWithoutNullStreams, program: string) {
    this.#child = child;
    // Then nothing is left that could end what has not obeyed SIGTERM, such as a command that is stopped.
    this.#atExit = endAtExit(child, 'SIGKILL');
    child.stderr.on('data', (chunk: Buffer) => {
      this.#words = tailBytes(`${this.#words}${chunk.toString('utf8')}`, MAX_STDERR_BYTES);
      this.#wordsMs = performance.now();
    });
    // A write that fails is followed by the end, which says more.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
    this.why = new Promise((resolve) => {
      child.on('error', (error) => {
        const isMissing = systemCodeOf(error) === 'ENOENT';
        resolve(isMissing ? `the program ${program} was not found` : error.message);
      });
      child.on('exit', (code, name) => {
        this.#endGroup();
        const how = code === null ? `was ended by ${name ?? 'a signal'}` : `ended with exit code ${code}`;
        const say = (): void => resolve(this.words || `${program} ${how}`);
        // What another process holds open is not waited for.
        const late = setTimeout(say, OUTPUT_GRACE_MS);
        child.on('close', () => {
          clearTimeout(late);
          say();
        });
      });
    });
  }

  /** The last line that the command has printed to stderr; empty when that is long ago. */
  get words(): string {
    if (this.isOpen && performance.now() - this.#wordsMs > LAST_WORDS_MS) return '';
    const lines = this.#words.split(/[\r\n]+/u).map((line) => line.trim());
    return lines.findLast((line) => line !== '') ?? '';
  }

  dispose(): void {
    this.#child.stdin.end();
    this.#child.stdout.destroy();
    this.#endGroup();
  }

  #endGroup(): void {
    signalGroupOf(this.#child, 'SIGTERM');
    const kill = (): void => {
      signalGroupOf(this.#child, 'SIGKILL');
      for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
      this.#atExit.dispose();
    };
    setTimeout(kill, KILL_GRACE_MS).unref();
  }
}

/** Brings the shell to the point where `start` owns stdin and stdout. Throws a Fault. */
async function openShell(
  { stdin, stdout }: ChildProcessWithoutNullStreams,
  end: CommandEnd,
  options: WireOptions,
): Promise<void> {
  const { signal, limitMs = OPEN_LIMIT_MS } = options;
  const begun = createSecret();
  const text = scriptText(options, begun);
  const owned = new DisposableStore();
  let asked = '';
  const ask = (): void => {
    if (owned.isDisposed || asked === begun) return;
    asked = createSecret();
    // Only the newest answer counts, so asking twice is harmless.
    stdin.write(`[ -t 0 ] && on=terminal || on=pipe; ${printMark(asked, '"$on"')}\n`);
    owned.add(after(ASK_AGAIN_MS, ask));
  };
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Fault(why));
      const onAbort = (): void => fail('the call was cancelled');
      signal.addEventListener('abort', onAbort, { once: true });
      owned.add(toDisposable(() => signal.removeEventListener('abort', onAbort)));
      const tooLate = (): void =>
        fail(`no shell answered in ${limitMs / 1000} s${end.words && `: ${end.words}`}`);
      owned.add(after(limitMs, tooLate));
      void end.why.then(fail);
      const onLine = (line: string): boolean => {
        if (line === `${asked} terminal`)
          fail('the command gives a terminal, which changes what goes through it: leave out its option -t');
        if (line === `${asked} pipe`) {
          asked = begun;
          stdin.write(text);
        }
        if (line === `${begun} yes`) resolve();
        return line === `${begun} yes`;
      };
      owned.add(throwAway(stdout, onLine, () => fail('it printed too much before the mark')));
      ask();
    });
  } finally {
    owned.dispose();
  }
}

/** The shell parses all of it before it runs any, so that it has read all that was sent when the mark is printed. */
function scriptText({ machine, prepare, start, variables = {} }: WireOptions, mark: string): string {
  const exports = Object.entries(variables).map(([name, value]) => {
    if (Buffer.byteLength(value) >= MAX_VARIABLE_BYTES)
      throw new Fault(
        `the variable ${name}, which pass_environment of ${machine} names, is longer than 128 KiB`,
      );
    return `export ${name}=${shellWord(value, '/')}`;
  });
  return ['{', ...exports, prepare, printMark(mark, 'yes'), start, 'exit', '}', ''].join('\n');
}

/** In two halves, since a terminal repeats what is typed. */
function printMark(mark: string, word: string): string {
  return `printf '\\n%s%s %s\\n' ${mark.slice(0, 16)} ${mark.slice(16)} ${word}`;
}

/** Calls `onLine` with each line until it returns true; what follows that line stays in the stream. `onFlood`: too much came. */
function throwAway(output: Readable, onLine: (line: string) => boolean, onFlood: () => void): Disposable {
  let rest = Buffer.alloc(0);
  let bytes = 0;
  const read = (chunk: Buffer): void => {
    bytes += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      const line = rest.toString('utf8', 0, end).trimEnd();
      rest = rest.subarray(end + 1);
      if (!onLine(line)) continue;
      output.off('data', read).pause();
      if (rest.length > 0) output.unshift(rest);
      return;
    }
    if (bytes > MAX_NOISE_BYTES) onFlood();
  };
  output.on('data', read);
  return toDisposable(() => output.off('data', read));
}

function after(delayMs: number, act: () => void): Disposable {
  const timer = setTimeout(act, delayMs);
  return toDisposable(() => clearTimeout(timer));
}
