import {
  PROMPT_YES,
  PromptAppearance,
  promptFinder,
  type SeenPrompt,
} from '../../approvals/screen-patterns.js';
import { withinMs } from '../../base/clock.js';
import { Emitter, DisposableStore, type Disposable } from '../../base/lifecycle.js';
import { oneLine, tailChars, withoutControl } from '../../base/text.js';
import { allWaits, type Child } from '../../pty/child.js';
import { Screen } from '../../screen/screen.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  TerminalDriverOptions,
} from '../session.js';
import { SCROLLBACK_LINES, SessionTerminal, SIZE } from '../session-terminal.js';
import { PrintedLines } from './printed-lines.js';

/** A prompt counts when the screen has not changed for this long: the program may still be writing it. */
const STABLE_MS = 250;
/** Prompts are at the bottom: this many of the last non-blank lines are checked. */
const BOTTOM_LINES = 4;
const CLOSE_LIMIT_MS = 5_000;
const YES = `${PROMPT_YES}\r`;
const NO = 'n\r';
const CTRL_C = '\x03';
const SUMMARY_CHARS = 200;
/** What is not seen whole is not allowed. */
const CUT_PROMPT = 'A prompt waits that begins above the screen: it can be answered at the terminal alone';

export interface ProgramDriverOptions extends TerminalDriverOptions {
  /** `auto_approve_patterns`. */
  readonly patterns: readonly string[];
}

/**
 * Drives a program that is not Claude Code. Its exit code ends the session. Prompts that match `auto_approve_patterns` become requests,
 * and the answer types `y` or `n` and Enter, once for each time they appear.
 */
export class ProgramDriver implements SessionDriver {
  readonly #options: ProgramDriverOptions;
  readonly #owned = new DisposableStore();
  readonly #events = this.#owned.add(new Emitter<SessionEvent>());
  readonly onEvent = this.#events.event;
  readonly #promptIn: ReturnType<typeof promptFinder>;
  readonly #appearance = new PromptAppearance();
  readonly #screen: Screen;
  readonly #printed = new PrintedLines((text) => this.#events.fire({ type: 'printed', lines: [text] }));
  #child: Child | undefined;
  #terminal: SessionTerminal | undefined;
  #exit: ExitStatus | undefined;
  #promptCheck: Disposable | undefined;
  #scrolledRows = 0;
  #asked: { readonly requestId: string; readonly prompt: SeenPrompt } | undefined;
  #next = 1;
  #unreportedBytes = 0;

  constructor(options: ProgramDriverOptions) {
    this.#options = options;
    this.#promptIn = promptFinder(options.patterns);
    const reply = (data: string): void => void this.#child?.write(data);
    const { clock } = options;
    this.#screen = this.#owned.add(new Screen({ ...SIZE, scrollback: SCROLLBACK_LINES, clock, reply }));
    this.#owned.add(this.#screen.onBatch((bytes) => this.#printed.bytes(bytes)));
    this.#owned.add(
      this.#screen.onScrolledOff(({ rows, lines }) => {
        this.#scrolledRows += rows;
        if (!this.#printed.isPlain) this.#printed.scrolledOff(lines());
      }),
    );
    this.#owned.add(this.#screen.onFrame(() => this.#onFrame()));
  }

  async start(): Promise<void> {
    const { pty, command, cwd, env, shell, promptFile: stdinFile, onBytes } = this.#options;
    const write = (_stream: unknown, bytes: Uint8Array): Promise<void> | undefined => {
      if (this.#owned.isDisposed) return undefined;
      this.#unreportedBytes += bytes.length;
      return allWaits([onBytes(bytes), this.#screen.feed(bytes)]);
    };
    const child = await pty.spawn({ command, cwd, env, size: SIZE, shell, stdinFile, sink: { write } });
    this.#child = child;
    this.#terminal = new SessionTerminal(child, this.#screen, SIZE);
    void child.exited.then((exit) => this.#onExit(exit));
    this.#events.fire({ type: 'spawned', pid: child.pid });
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    if (this.#asked?.requestId !== requestId || this.#exit !== undefined) return 'gone';
    this.#asked = undefined;
    this.#child?.write(answer.verdict === 'deny' ? NO : YES);
    return 'answered';
  }

  async send(text: string): Promise<SendResult> {
    this.#child?.write(`${text}\r`);
    return 'sent';
  }

  async interrupt(): Promise<void> {
    this.#child?.write(CTRL_C);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#exit !== undefined) return;
    child.write(CTRL_C);
    if ((await withinMs(this.#options.clock, CLOSE_LIMIT_MS, child.exited)) === undefined) await this.kill();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    await this.#options.killTree(child.pid);
    await child.exited;
  }

  async screen(): Promise<ScreenView> {
    await this.#screen.parsed();
    return { text: this.#text(), ...(this.#terminal?.size ?? SIZE) };
  }

  get terminal(): SessionTerminal | undefined {
    return this.#terminal;
  }

  lastOutput(maxChars: number): string {
    const text = this.#printed.tail(maxChars) ?? this.#text();
    return tailChars(withoutControl(text).replace(/\n{3,}/g, '\n\n'), maxChars).trim();
  }

  dispose(): void {
    this.#promptCheck?.dispose();
    this.#child?.dispose();
    this.#owned.dispose();
  }

  #onFrame(): void {
    this.#promptCheck?.dispose();
    this.#promptCheck = this.#options.clock.after(STABLE_MS, () => this.#checkPrompt());
    const bytes = this.#unreportedBytes;
    this.#unreportedBytes = 0;
    this.#events.fire({ type: 'output', bytes });
  }

  /** Called when the screen has not changed for a while: checks whether there is a new prompt at its bottom. */
  #checkPrompt(): void {
    if (this.#exit !== undefined) return;
    const prompt = this.#bottomPrompt();
    const asked = this.#asked;
    if (
      asked !== undefined &&
      (prompt === undefined || prompt.row !== asked.prompt.row || !prompt.line.startsWith(asked.prompt.line))
    ) {
      this.#asked = undefined;
      this.#events.fire({ type: 'request-gone', requestId: asked.requestId, why: 'the prompt went away' });
    }
    if (!this.#appearance.isNew(prompt) || prompt === undefined) return;
    const whole = this.#wholeLine(prompt.row - this.#scrolledRows);
    if (whole === undefined) {
      this.#events.fire({ type: 'notice', text: CUT_PROMPT });
      return;
    }
    const requestId = `prompt-${this.#next++}`;
    this.#asked = { requestId, prompt };
    this.#events.fire({
      type: 'request',
      request: {
        requestId,
        kind: 'permission',
        tool: 'terminal-prompt',
        input: { line: whole },
        summary: oneLine(whole, SUMMARY_CHARS),
        options: ['y', 'n'],
        source: 'observed',
      },
    });
  }

  #bottomPrompt(): SeenPrompt | undefined {
    const { lines } = this.#screen.snapshot();
    const last = lines.findLastIndex((line) => line.trim() !== '');
    if (last === -1) return undefined;
    const first = Math.max(0, last - BOTTOM_LINES + 1);
    const match = this.#promptIn(lines.slice(first, last + 1));
    return match && { line: match.line, row: this.#scrolledRows + first + match.row };
  }

  /** The line that ends in a row, with the rows above that it began in; undefined when it began above the screen. */
  #wholeLine(row: number): string | undefined {
    const { lines, wrapped, columns } = this.#screen.snapshot();
    let whole = lines[row] ?? '';
    for (let at = row; wrapped.includes(at); at--) {
      if (at === 0) return undefined;
      whole = (lines[at - 1] ?? '').padEnd(columns) + whole;
    }
    return whole.trim();
  }

  async #onExit(exit: ExitStatus): Promise<void> {
    await this.#screen.parsed();
    if (this.#owned.isDisposed) return;
    this.#printed.end(this.#screen.snapshot().lines);
    if (this.#unreportedBytes > 0) this.#events.fire({ type: 'output', bytes: this.#unreportedBytes });
    this.#unreportedBytes = 0;
    this.#promptCheck?.dispose();
    this.#exit = exit;
    this.#events.fire({ type: 'exited', exit });
  }

  #text(): string {
    return this.#screen.snapshot().lines.join('\n').trimEnd();
  }
}
