import { randomBytes } from 'node:crypto';
import { withinMs, type Clock } from '../../../src/base/clock.js';
import { Emitter } from '../../../src/base/event.js';
import { DisposableStore } from '../../../src/base/lifecycle.js';
import { deferred, type Deferred } from '../deferred.js';
import type { Pseudoterminal, TerminalSize } from '../editor.js';
import { EditorError } from '../editor-error.js';
import type { PtyProcess, SpawnPty } from './load-pty.js';
import { OutputText } from './output-text.js';
import { Marks, promptShell, typedCommand } from './posix-shells.js';
import type { RunningCommand, TerminalBackend } from './terminal-backend.js';

const DEFAULT_SIZE: TerminalSize = { columns: 80, rows: 24 };
const TERM = 'xterm-256color';
const SECRET_BYTES = 12;
/** A shell is there at once; on a busy machine it takes longer. */
const PROMPT_LIMIT_MS = 15_000;

export interface PseudoBackendOptions {
  readonly spawn: SpawnPty;
  readonly clock: Clock;
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: TerminalSize | undefined;
  /** The first line that the person sees in it. */
  readonly message: string;
}

/** `typed`: a command was typed and has not begun; `person`: the person pressed Enter. */
type State = 'starting' | 'idle' | 'typed' | 'running' | 'person';

/** A terminal of the extension's own, for shells that tell the editor nothing: their prompt says when a command has ended. */
export class PseudoBackend implements TerminalBackend, Pseudoterminal {
  readonly kind = 'pseudoterminal';
  beforeMore: () => Promise<void> = () => Promise.resolve();
  readonly shell: string;
  readonly #owned = new DisposableStore();
  readonly #output = this.#owned.add(new Emitter<string>());
  readonly onOutput = this.#output.event;
  readonly #busy = this.#owned.add(new Emitter<void>());
  readonly onBusy = this.#busy.event;
  readonly #written = this.#owned.add(new Emitter<string>());
  readonly onDidWrite = this.#written.event;
  readonly #closed = this.#owned.add(new Emitter<number | undefined>());
  readonly onDidClose = this.#closed.event;
  readonly #size = this.#owned.add(new Emitter<TerminalSize>());
  readonly onDidOverrideSize = this.#size.event;
  readonly #marks = new Marks(randomBytes(SECRET_BYTES).toString('hex'));
  readonly #options: PseudoBackendOptions;
  readonly #prompt = deferred<void>();
  #process: PtyProcess | undefined;
  #state: State = 'starting';
  #text = new OutputText();
  #held = '';
  #own: { readonly begun: Deferred<void>; readonly code: Deferred<number | undefined> } | undefined;
  /** Chosen by a program: what the editor has room for does not count then. */
  #chosen: TerminalSize | undefined;

  constructor(options: PseudoBackendOptions) {
    this.#options = options;
    this.shell = options.shell;
    this.#chosen = options.size;
    this.#prompt.promise.catch(() => undefined);
  }

  /** The pid of the shell, once the terminal is open. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isBusy(): boolean {
    return this.#state !== 'idle' && this.#state !== 'starting';
  }

  open(size: TerminalSize | undefined): void {
    const { spawn, shell, cwd, env, message } = this.#options;
    const started = promptShell(shell, this.#marks);
    if (started === undefined) return this.#fail(unknownShell(shell));
    const { columns, rows } = this.#chosen ?? size ?? DEFAULT_SIZE;
    this.#written.fire(`${message}\r\n`);
    try {
      this.#process = spawn(shell, started.args, {
        name: TERM,
        cols: columns,
        rows,
        cwd,
        env: { ...env, TERM, ...started.env },
      });
    } catch (error) {
      return this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#chosen !== undefined) this.#size.fire(this.#chosen);
    this.#owned.add(this.#process.onData((text) => this.#received(text)));
    this.#owned.add(this.#process.onExit(({ exitCode }) => this.#exited(exitCode)));
  }

  /** The terminal was closed in the editor. */
  close(): void {
    this.#process?.kill('SIGHUP');
  }

  dispose(): void {
    this.close();
    this.#fail(new EditorError('TERMINAL_CLOSED', 'The terminal was closed.', 'Create another one.'));
    this.#owned.dispose();
  }

  handleInput(text: string): void {
    if (this.#state === 'idle' && /[\r\n]/.test(text)) this.#become('person');
    this.#process?.write(text);
  }

  setSize({ columns, rows }: TerminalSize): void {
    if (this.#chosen === undefined) this.#process?.resize(columns, rows);
  }

  resize(size: TerminalSize): void {
    this.#chosen = size;
    this.#process?.resize(size.columns, size.rows);
    this.#size.fire(size);
  }

  type(text: string): void {
    this.handleInput(text);
  }

  async ready(): Promise<void> {
    const isReady = this.#prompt.promise.then(() => true);
    if ((await withinMs(this.#options.clock, PROMPT_LIMIT_MS, isReady)) === true) return;
    throw new EditorError(
      'TERMINAL_FAILED',
      `The shell has shown no prompt within ${PROMPT_LIMIT_MS / 1000} s.`,
      'A dialog of the editor may be in its way; try again.',
    );
  }

  run(line: string): RunningCommand {
    const own = { begun: deferred<void>(), code: deferred<number | undefined>() };
    this.#own = own;
    this.#text = new OutputText();
    this.#become('typed');
    // Instead of what is typed, which the terminal would show with its marks.
    this.#written.fire(`${line.replaceAll('\n', '\r\n')}\r\n`);
    this.#process?.write(typedCommand(line, this.#marks));
    return {
      begun: own.begun.promise,
      ended: own.code.promise,
      abandon: () => {
        if (this.#own === own) this.#own = undefined;
      },
    };
  }

  #received(piece: string): void {
    let text = this.#held + piece;
    this.#held = '';
    for (let mark = this.#marks.pattern.exec(text); mark !== null; mark = this.#marks.pattern.exec(text)) {
      this.#said(text.slice(0, mark.index));
      text = text.slice(mark.index + mark[0].length);
      if (mark[1] === undefined) this.#begun();
      else this.#ended(Number(mark[1]));
    }
    const last = text.lastIndexOf('\u001b');
    const isPart =
      last >= 0 && text.length - last < this.#marks.maxChars && !text.slice(last).includes('\u0007');
    this.#held = isPart ? text.slice(last) : '';
    this.#said(isPart ? text.slice(0, last) : text);
  }

  #said(text: string): void {
    if (text === '' || this.#state === 'typed') return;
    this.#written.fire(text);
    if (this.#state === 'running' || this.#state === 'person') this.#output.fire(this.#text.take(text));
  }

  #begun(): void {
    if (this.#state !== 'typed') return;
    this.#own?.begun.resolve();
    this.#become('running');
  }

  #ended(code: number): void {
    this.#output.fire(this.#text.rest());
    const own = this.#own;
    this.#own = undefined;
    this.#become('idle');
    this.#prompt.resolve();
    own?.begun.resolve();
    own?.code.resolve(code);
  }

  #exited(exitCode: number): void {
    this.#said(this.#held);
    this.#fail(
      new EditorError(
        'TERMINAL_FAILED',
        `The shell ended with code ${exitCode}.`,
        'Create another terminal.',
      ),
    );
    this.#closed.fire(exitCode);
  }

  #fail(error: Error): void {
    this.#prompt.reject(error);
    this.#own?.code.resolve(undefined);
    this.#own = undefined;
  }

  #become(state: State): void {
    this.#state = state;
    this.#busy.fire();
  }
}

function unknownShell(shell: string): EditorError {
  return new EditorError(
    'NO_SHELL_INTEGRATION',
    `${shell} reports nothing to the editor, and its prompt cannot either.`,
    'Use bash, zsh, fish, pwsh, or a shell like sh.',
  );
}
