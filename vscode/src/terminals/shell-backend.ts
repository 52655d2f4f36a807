import { basename } from 'node:path';
import { Emitter, DisposableStore, nextEvent, type Disposable } from '../../../src/base/lifecycle.js';
import { withinMs, type Clock } from '../../../src/base/clock.js';
import type { Logger } from '../../../src/base/logger.js';
import { messageOf } from '../../../src/base/errors.js';
import { deferred } from '../deferred.js';
import type { Editor, ShellExecution, ShownTerminal } from '../editor.js';
import { EditorError } from '../editor-error.js';
import { OutputText } from './output-text.js';

/** A shell has it within two seconds; on a busy machine it takes longer. */
const INTEGRATION_LIMIT_MS = 10_000;
/** A shell shows its prompt again at once; on a busy machine it takes a moment. */
const FRESH_PROMPT_MS = 10_000;
/** The last output comes with the end of a command, or later to programs that are slow to read. */
const LAST_OUTPUT_MS = 60_000;
/** A Ctrl-C is echoed at once; on a busy machine it takes a moment. */
const ECHO_MS = 2_000;
/** Shells with which the editor reports an empty line as a command. */
const ANSWERS_EMPTY_LINE = new Set(['bash', 'zsh']);
const CTRL_C = '\u0003';

export interface ShellBackendOptions {
  readonly editor: Editor;
  readonly terminal: ShownTerminal;
  readonly shell: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A command that was given to a shell. */
export interface RunningCommand {
  /** When the shell has begun with it. A command with an error in its syntax never begins. */
  readonly begun: Promise<void>;
  /** Its exit code, after its last output; undefined where the shell does not say. */
  readonly ended: Promise<number | undefined>;
  /** Nothing is expected of it any more. */
  abandon(): void;
}

/** A terminal of the editor whose shell says when a command begins and ends. */
export class ShellBackend implements Disposable {
  readonly shell: string | undefined;
  readonly #options: ShellBackendOptions;
  readonly #owned = new DisposableStore();
  readonly #output = this.#owned.add(new Emitter<string>());
  readonly onOutput = this.#output.event;
  readonly #busy = this.#owned.add(new Emitter<void>());
  /** A command of a program or of the person has begun or ended. */
  readonly onBusy = this.#busy.event;
  /** Those that have begun and not ended: of programs, and of the person. */
  readonly #running = new Set<ShellExecution>();
  readonly #read = new WeakSet<ShellExecution>();
  readonly #own = new Map<ShellExecution, OwnCommand>();
  #interruptedMs = -Infinity;

  constructor(options: ShellBackendOptions) {
    this.#options = options;
    this.shell = options.shell;
    const { editor, terminal } = options;
    this.#owned.add(
      editor.onDidStartExecution((started) => {
        if (started.terminal === terminal) this.#begun(started.execution);
      }),
    );
    this.#owned.add(
      editor.onDidEndExecution((ended) => {
        if (ended.terminal === terminal) this.#ended(ended.execution, ended.exitCode);
      }),
    );
  }

  dispose(): void {
    this.#owned.dispose();
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves when commands can be run. Throws NO_SHELL_INTEGRATION after a limit. */
  async ready(): Promise<void> {
    const { editor, terminal, clock } = this.#options;
    const isReady = (): boolean => terminal.shellIntegration !== undefined;
    if (isReady()) return;
    await withinMs(clock, INTEGRATION_LIMIT_MS, nextEvent(editor.onDidChangeShellIntegration, isReady));
    if (isReady()) return;
    throw noIntegration(
      `The shell of this terminal has not reported to the editor within ${INTEGRATION_LIMIT_MS / 1000} s.`,
    );
  }

  /**
   * Has the shell show its prompt once more, and resolves when it has, or after a limit.
   * The size of a new terminal changes when the editor shows it, and the shell draws its prompt again in another line.
   * The editor then takes the next command for an empty one, and never reports its end (seen in VS Code 1.139).
   */
  async freshPrompt(): Promise<void> {
    if (!ANSWERS_EMPTY_LINE.has(basename(this.shell ?? ''))) return;
    const { editor, terminal, clock } = this.#options;
    const shown = nextEvent(editor.onDidEndExecution, (ended) => ended.terminal === terminal);
    terminal.sendText('', true);
    await withinMs(clock, FRESH_PROMPT_MS, shown);
  }

  run(line: string): RunningCommand {
    const { terminal } = this.#options;
    if (terminal.shellIntegration === undefined) throw new Error('The shell is not ready.');
    const execution = terminal.shellIntegration.executeCommand(line);
    const own: OwnCommand = {
      givenMs: this.#options.clock.monotonicMs(),
      begun: deferred<void>(),
      code: deferred<number | undefined>(),
      // At once: what comes before somebody reads is lost.
      read: this.#readAll(execution),
    };
    this.#own.set(execution, own);
    return {
      begun: own.begun.promise,
      ended: this.#endOf(own),
      abandon: () => void this.#own.delete(execution),
    };
  }

  type(text: string): void {
    if (text.includes(CTRL_C)) this.#interruptedMs = this.#options.clock.monotonicMs();
    this.#options.terminal.sendText(text, false);
  }

  async #endOf({ code, read }: OwnCommand): Promise<number | undefined> {
    const exitCode = await code.promise;
    await withinMs(this.#options.clock, LAST_OUTPUT_MS, read);
    return exitCode;
  }

  #begun(execution: ShellExecution): void {
    const own = this.#own.get(execution);
    if (own !== undefined) own.begun.resolve();
    // The person's: of a fast command the editor may have lost the output by now.
    else void this.#readAll(execution);
    if (own === undefined ? !this.#isEcho(execution) : own.givenMs > this.#interruptedMs)
      this.#running.add(execution);
    this.#busy.fire();
  }

  #ended(execution: ShellExecution, exitCode: number | undefined): void {
    this.#running.delete(execution);
    const own = this.#own.get(execution);
    this.#own.delete(execution);
    own?.begun.resolve();
    own?.code.resolve(exitCode);
    this.#busy.fire();
  }

  /** What the editor takes for a command besides one of a program, such as the Ctrl-C that ended it; of that it may see no end. */
  #isEcho({ commandLine }: ShellExecution): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - this.#interruptedMs;
    return this.#own.size > 0 || sinceMs < ECHO_MS || commandLine.value.startsWith('^C');
  }

  async #readAll(execution: ShellExecution): Promise<void> {
    if (this.#read.has(execution)) return;
    this.#read.add(execution);
    const text = new OutputText();
    try {
      for await (const piece of execution.read()) this.#output.fire(text.take(piece));
    } catch (error) {
      this.#options.logger.warn('The output of a command could not be read', { error: messageOf(error) });
    }
    this.#output.fire(text.rest());
  }
}

interface OwnCommand {
  /** What the editor reports of it after a later Ctrl-C is that Ctrl-C. */
  readonly givenMs: number;
  readonly begun: ReturnType<typeof deferred<void>>;
  readonly code: ReturnType<typeof deferred<number | undefined>>;
  readonly read: Promise<void>;
}

export function noIntegration(why: string): EditorError {
  return new EditorError(
    'NO_SHELL_INTEGRATION',
    why,
    'Use bash, zsh, fish or pwsh with terminal.integrated.shellIntegration.enabled.',
  );
}
