import type { Clock } from '../../base/clock.js';
import { sleep, withinMs } from '../../base/clock.js';
import { Emitter, nextEvent } from '../../base/event.js';
import { createSecret } from '../../base/ids.js';
import { DisposableStore } from '../../base/lifecycle.js';
import { tailChars } from '../../base/text.js';
import type { PtyManager } from '../../pty/pty-manager.js';
import type { PtySession } from '../../pty/pty-session.js';
import { Screen } from '../../screen/screen.js';
import { HooksServer } from '../hooks/hooks-server.js';
import { HOOK_TOKEN_VARIABLE, hookSettings } from '../hooks/hook-settings.js';
import { interactiveArguments } from '../launch.js';
import type { ExitStatus, ScreenView, SessionAnswer, SessionDriver, SessionEvent } from '../session.js';
import { HookSession } from './hook-session.js';
import { ScreenDialogs } from './screen-dialogs.js';
import {
  composerRow,
  isComposerEmpty,
  isInterrupted,
  readScreenState,
  readRetryNotice,
  readableText,
} from './screen-state.js';

/** The size in which every screen of the CLI was recorded. */
export const TERMINAL_COLUMNS = 120;
export const TERMINAL_ROWS = 40;
const SCROLLBACK_LINES = 2000;
/** The screen is judged at most this often; dialogs and footers do not come and go faster. */
const LOOK_INTERVAL_MS = 100;
/** A start shows its first hook within 3 s on a busy machine; ten times that is silence. */
const SILENT_START_MS = 30_000;
/** Without hooks a turn counts as over when the input box stood idle this long. */
const IDLE_SETTLED_MS = 2_000;
/** First-start screens count when they stand this long: a theme picker may flash by. */
const TROUBLE_SETTLED_MS = 1_500;
/** Two Ctrl-D on an empty box end the session; closer together they count as one, measured 150 ms apart. */
const LEAVE_KEY_GAP_MS = 150;
const LEAVE_LIMIT_MS = 3_000;
const COMPOSER_LIMIT_MS = 5_000;
const CTRL_D = '\x04';
const CTRL_U = '\x15';
const ESCAPE = '\x1b';

export interface InteractiveDriverOptions {
  readonly pty: PtyManager;
  readonly clock: Clock;
  /** Absolute program path and configured arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: string;
  /** File whose text is the prompt; it becomes the program's stdin. */
  readonly promptFile: string;
  readonly sessionId: string;
  readonly model: string | null;
  readonly decisionTimeoutSeconds: number;
  /** Ends the process tree: the kill ladder. */
  readonly killTree: (pid: number) => Promise<void>;
  /** Every byte of the terminal, for the recording. */
  readonly onBytes: (bytes: Buffer, session: PtySession) => void;
}

/**
 * Drives the real TUI: hooks tell the truth, the screen tells the rest (start dialogs, a session without hooks, what a
 * person would see). Keys are pressed only on a dialog that is seen, and text is typed only into an input box that is seen.
 */
export class InteractiveDriver implements SessionDriver {
  readonly #options: InteractiveDriverOptions;
  readonly #owned = new DisposableStore();
  readonly #events = this.#owned.add(new Emitter<SessionEvent>());
  readonly onEvent = this.#events.event;
  readonly #frames = this.#owned.add(new Emitter<void>());
  #session: PtySession | undefined;
  #screen: Screen | undefined;
  #hooks: HookSession | undefined;
  #dialogs: ScreenDialogs | undefined;
  #exit: ExitStatus | undefined;
  #lookPending = false;
  #turn: 'before' | 'running' | 'over' = 'before';
  #interrupting = false;
  #closing = false;
  #idleSinceMs: number | undefined;
  #troubleSinceMs: number | undefined;
  #retryNotice: string | undefined;
  #lastReadable = '';
  #bytesUntold = 0;

  constructor(options: InteractiveDriverOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { options } = { options: this.#options };
    const token = createSecret();
    const hooks = new HookSession(options.cwd, (event) => this.#onHookEvent(event));
    this.#hooks = hooks;
    const server = this.#owned.add(
      await HooksServer.start({
        token,
        handle: (event, gone) => hooks.handle(event, gone),
        onFault: (text) => this.#fire({ type: 'notice', text }),
      }),
    );
    const settings = hookSettings(server.url, options.decisionTimeoutSeconds);
    try {
      this.#session = await options.pty.spawn({
        command: [...options.command, ...interactiveArguments(options, settings)],
        cwd: options.cwd,
        env: { ...options.env, [HOOK_TOKEN_VARIABLE]: token },
        columns: TERMINAL_COLUMNS,
        rows: TERMINAL_ROWS,
        shell: options.shell,
        stdinFile: options.promptFile,
      });
    } catch (fault) {
      this.dispose();
      throw fault;
    }
    this.#attach(this.#session);
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    if (this.#hooks?.answer(requestId, answer) === true) {
      // A plan without text is not taken from the hook by 2.1.330: its dialog stays, and gets the same answer by keys.
      if (this.#hooks.isPlan(requestId) && answer.verdict !== 'deny')
        this.#dialogs?.answerLeftOver('plan-ready', answer);
      return 'answered';
    }
    const dialogs = this.#dialogs;
    const session = this.#session;
    if (dialogs === undefined || session === undefined) return 'gone';
    // The answer may end the session ("No, exit"); its last screen changes no more.
    return Promise.race([dialogs.answer(requestId, answer), session.exited.then(() => 'answered' as const)]);
  }

  async send(text: string): Promise<void> {
    await this.#untilComposerEmpty();
    const session = this.#running();
    session.write(`\x1b[200~${text.replaceAll('\x1b', '')}\x1b[201~`);
    await this.#untilFrame(() => !isComposerEmpty(this.#lines()), COMPOSER_LIMIT_MS);
    this.#turn = 'running';
    this.#idleSinceMs = undefined;
    session.write('\r');
  }

  async interrupt(): Promise<void> {
    const session = this.#running();
    this.#interrupting = this.#turn === 'running';
    session.write(ESCAPE);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const session = this.#session;
    if (session === undefined || this.#exit !== undefined) return;
    await this.#untilFrame(() => composerRow(this.#lines()) !== undefined, COMPOSER_LIMIT_MS);
    if (this.#isGone()) return;
    if (!isComposerEmpty(this.#lines())) {
      session.write(CTRL_U);
      await this.#untilFrame(() => isComposerEmpty(this.#lines()), LEAVE_LIMIT_MS);
    }
    for (let attempt = 0; attempt < 2 && !this.#isGone(); attempt++) {
      session.write(CTRL_D);
      await sleep(this.#options.clock, LEAVE_KEY_GAP_MS);
      if (this.#isGone()) return;
      session.write(CTRL_D);
      await withinMs(this.#options.clock, LEAVE_LIMIT_MS, session.exited);
    }
    if (!this.#isGone()) await this.kill();
  }

  async kill(): Promise<void> {
    this.#closing = true;
    const session = this.#session;
    if (session === undefined) return;
    await this.#options.killTree(session.pid);
    await session.exited;
  }

  async screen(): Promise<ScreenView> {
    await this.#screen?.settled();
    const { lines, columns, rows } = this.#snapshot();
    return { text: lines.join('\n').trimEnd(), columns, rows };
  }

  lastOutput(maxChars: number): string {
    return tailChars(this.#lastReadable, maxChars);
  }

  dispose(): void {
    this.#hooks?.dispose();
    this.#session?.dispose();
    this.#owned.dispose();
  }

  #attach(session: PtySession): void {
    const { clock } = this.#options;
    const screen = this.#owned.add(
      new Screen({
        columns: TERMINAL_COLUMNS,
        rows: TERMINAL_ROWS,
        scrollback: SCROLLBACK_LINES,
        clock,
        reply: (data) => session.write(data),
      }),
    );
    this.#screen = screen;
    const dialogs = new ScreenDialogs({
      clock,
      lines: () => this.#lines(),
      onFrame: this.#frames.event,
      press: (keys) => session.write(keys),
      fire: (event) => this.#fire(event),
      believesAll: () => this.#hooks?.state !== 'live',
    });
    this.#dialogs = dialogs;
    this.#owned.add(screen.onFrame(() => this.#onFrame()));
    this.#owned.add(
      session.onData((bytes) => {
        this.#bytesUntold += bytes.length;
        this.#options.onBytes(bytes, session);
        screen.feed(bytes);
      }),
    );
    this.#owned.add(session.onExit((exit) => void this.#onExit(exit)));
    this.#owned.add(clock.after(SILENT_START_MS, () => this.#onSilentStart()));
    this.#fire({ type: 'spawned', pid: session.pid });
  }

  #onFrame(): void {
    this.#frames.fire();
    if (this.#lookPending || this.#exit !== undefined) return;
    this.#lookPending = true;
    this.#owned.add(
      this.#options.clock.after(LOOK_INTERVAL_MS, () => {
        this.#lookPending = false;
        this.#look();
      }),
    );
  }

  /** Looks at the screen for what no hook tells. */
  #look(): void {
    if (this.#exit !== undefined) return;
    this.#tellOutput();
    const screen = this.#lines();
    const state = readScreenState(screen);
    const readable = readableText(screen);
    if (readable !== '' && !this.#closing) this.#lastReadable = readable;
    this.#dialogs?.look();
    this.#lookForTrouble(state);
    const retry = readRetryNotice(screen);
    if (retry !== undefined && retry !== this.#retryNotice) this.#fire({ type: 'notice', text: retry });
    this.#retryNotice = retry;
    if (this.#interrupting && state === 'idle' && isInterrupted(screen)) this.#endTurn('interrupted');
    else if (this.#hooks?.state !== 'live') this.#lookForTurnsWithoutHooks(state);
  }

  #lookForTrouble(state: ReturnType<typeof readScreenState>): void {
    const text = troubleTexts[state];
    if (text === undefined) {
      this.#troubleSinceMs = undefined;
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    this.#troubleSinceMs ??= nowMs;
    if (nowMs - this.#troubleSinceMs >= TROUBLE_SETTLED_MS) {
      const kind = state === 'unreachable' ? 'network' : state === 'login' ? 'not-logged-in' : 'onboarding';
      this.#fire({ type: 'trouble', kind, text });
    } else {
      this.#lookAgain();
    }
  }

  #lookForTurnsWithoutHooks(state: ReturnType<typeof readScreenState>): void {
    if (state === 'busy' && this.#turn !== 'running') {
      this.#turn = 'running';
      this.#fire({ type: 'turn-started', source: 'observed', prompt: '' });
    }
    if (state !== 'idle' || this.#turn !== 'running' || this.#dialogs?.isOpen === true) {
      this.#idleSinceMs = undefined;
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    this.#idleSinceMs ??= nowMs;
    if (nowMs - this.#idleSinceMs >= IDLE_SETTLED_MS) this.#endTurn('observed');
    else this.#lookAgain();
  }

  #endTurn(how: 'interrupted' | 'observed'): void {
    this.#turn = 'over';
    this.#interrupting = false;
    this.#idleSinceMs = undefined;
    this.#fire({
      type: 'turn-ended',
      source: 'observed',
      message: this.#lastReadable,
      backgroundTasks: 0,
      interrupted: how === 'interrupted',
    });
  }

  /** No frame may come any more: what is timed looks again by itself. */
  #lookAgain(): void {
    this.#onFrame();
  }

  #onHookEvent(event: SessionEvent): void {
    if (event.type === 'turn-started') this.#turn = 'running';
    if (event.type === 'turn-ended') {
      this.#turn = 'over';
      this.#interrupting = false;
    }
    this.#fire(event);
  }

  #onSilentStart(): void {
    if (this.#hooks?.state === 'live' || this.#turn !== 'before' || this.#exit !== undefined) return;
    if (this.#dialogs?.isOpen === true) return;
    const shown = readableText(this.#lines());
    this.#fire({
      type: 'notice',
      text: `No sign of life ${SILENT_START_MS / 1000} s after the start; the screen shows: ${shown === '' ? '(nothing)' : shown}`,
    });
  }

  async #onExit(exit: ExitStatus): Promise<void> {
    await this.#screen?.settled();
    this.#tellOutput();
    if (this.#turn === 'before' || !this.#closing) {
      const readable = readableText(this.#lines());
      if (readable !== '') this.#lastReadable = readable;
    }
    this.#exit = exit;
    this.#frames.fire();
    this.#dialogs?.withdraw('the session ended');
    this.#hooks?.withdraw('the session ended');
    this.#fire({ type: 'exited', exit });
  }

  #tellOutput(): void {
    if (this.#bytesUntold === 0) return;
    this.#fire({ type: 'output', bytes: this.#bytesUntold });
    this.#bytesUntold = 0;
  }

  #fire(event: SessionEvent): void {
    this.#events.fire(event);
  }

  #isGone(): boolean {
    return this.#exit !== undefined;
  }

  #running(): PtySession {
    if (this.#session === undefined || this.#exit !== undefined)
      throw new Error('the session is not running');
    return this.#session;
  }

  #snapshot(): ReturnType<Screen['snapshot']> {
    if (this.#screen === undefined) throw new Error('the session has no screen yet');
    return this.#screen.snapshot();
  }

  #lines(): ReturnType<Screen['snapshot']> {
    return this.#snapshot();
  }

  async #untilComposerEmpty(): Promise<void> {
    const isReady = (): boolean => isComposerEmpty(this.#lines());
    if (await this.#untilFrame(isReady, COMPOSER_LIMIT_MS)) return;
    this.#running().write(CTRL_U);
    if (!(await this.#untilFrame(isReady, COMPOSER_LIMIT_MS))) {
      throw new Error('the input box did not become free');
    }
  }

  async #untilFrame(isTrue: () => boolean, limitMs: number): Promise<boolean> {
    if (this.#isGone() || isTrue()) return true;
    const seen = nextEvent(this.#frames.event, () => this.#isGone() || isTrue()).then(() => true);
    return (await withinMs(this.#options.clock, limitMs, seen)) === true;
  }
}

const troubleTexts: Partial<Record<ReturnType<typeof readScreenState>, string>> = {
  onboarding:
    'Claude Code shows its first-start screens. Run `claude` once in a terminal, finish them, and start the task again.',
  login:
    'Claude Code is not logged in. Run `claude` once in a terminal and log in, then start the task again.',
  unreachable:
    'Claude Code could not connect to its service. Check the network (and ANTHROPIC_BASE_URL), then start the task again.',
};
