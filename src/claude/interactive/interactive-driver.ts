import type { CliPermissions } from '../../approvals/cli-permissions.js';
import { withinMs, type Clock } from '../../base/clock.js';
import { Emitter } from '../../base/event.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import { tailChars } from '../../base/text/text.js';
import type { Pid } from '../../os/pid.js';
import { pauseUntil } from '../../pty/pause-until.js';
import type { PtySession, PtySpawner } from '../../pty/pty-session.js';
import { Screen } from '../../screen/screen.js';
import type { Snapshot } from '../../screen/snapshot.js';
import { HooksServer } from '../hooks/hooks-server.js';
import { HOOK_TOKEN_VARIABLE, hookSettings } from '../hooks/hook-settings.js';
import { interactiveArguments, type ResumePoint } from '../launch.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAllowance,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
} from '../session.js';
import type { CliSandbox } from '../sandbox/cli-sandbox.js';
import { SessionTerminal } from '../session-terminal.js';
import { Composer } from './composer.js';
import { HookSession } from './hook-session.js';
import { KeyGate } from './key-gate.js';
import { ScreenDialogs, type DialogPhase } from './screen-dialogs.js';
import { readableText } from './screen-state.js';
import { ScreenWatch } from './screen-watch.js';

/** The size in which every screen of the CLI was recorded. */
export const TERMINAL_COLUMNS = 120;
export const TERMINAL_ROWS = 40;
const SCROLLBACK_LINES = 2000;
/** The screen is judged at most this often; dialogs and footers do not come and go faster. */
const LOOK_INTERVAL_MS = 100;
/** A start shows its first hook within 3 s on a busy machine; ten times that is silence. */
const SILENT_START_MS = 30_000;
/** The dialogs of denied requests have gone within this. */
const CLOSE_LIMIT_MS = 5_000;
const INTERRUPTED = 'The turn was interrupted.';
const ESCAPE = '\x1b';
const CTRL_C = '\x03';

export interface InteractiveDriverOptions {
  readonly pty: PtySpawner;
  readonly clock: Clock;
  /** Absolute program path and configured arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: string;
  /** File whose text is the prompt; it becomes the program's stdin. */
  readonly promptFile: string;
  readonly sessionId: string;
  /** Where the CLI keeps its transcripts on this machine; undefined where these are not to be read. */
  readonly configDir: string | undefined;
  readonly resume?: ResumePoint | null | undefined;
  /** What the CLI is to ask about, besides what it asks about by itself. */
  readonly permissions?: CliPermissions | undefined;
  /** The sandbox for its commands; without one they run as the user. */
  readonly sandbox?: CliSandbox | undefined;
  readonly model: string | null;
  readonly decisionTimeoutSeconds: number;
  /** Ends the process tree: the kill ladder. */
  readonly killTree: (pid: Pid | undefined) => Promise<void>;
  /** Every byte of the terminal, for the recording. */
  readonly onBytes: (bytes: Buffer, session: PtySession) => void;
}

/** What there is once the program runs. */
interface Running {
  readonly session: PtySession;
  readonly terminal: SessionTerminal;
  readonly screen: Screen;
  readonly dialogs: ScreenDialogs;
  readonly composer: Composer;
  readonly gate: KeyGate;
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
  readonly #hooks: HookSession;
  readonly #watch: ScreenWatch;
  #running: Running | undefined;
  #exit: ExitStatus | undefined;
  #nextLook: Disposable | undefined;
  #closing = false;
  /** A hook told that the last turn ended by a usage limit. */
  #isLimitTold = false;
  #bytesUntold = 0;
  #readableTold = '';

  constructor(options: InteractiveDriverOptions) {
    this.#options = options;
    this.#hooks = this.#owned.add(new HookSession(options, (event) => this.#onHookEvent(event)));
    this.#watch = new ScreenWatch({
      clock: options.clock,
      fire: (event) => this.#fire(event),
      hooksLive: () => this.#hooks.state === 'live',
      dialogOpen: () => this.#running?.dialogs.isOpen === true,
      lookAgain: () => this.#lookSoon(),
    });
  }

  async start(): Promise<void> {
    const { pty, command, cwd, env, shell, promptFile, decisionTimeoutSeconds } = this.#options;
    const token = createSecret();
    const server = this.#owned.add(
      await HooksServer.start({
        token,
        handle: (event, gone) => this.#hooks.handle(event, gone),
        onFault: (text) => this.#fire({ type: 'notice', text }),
      }),
    );
    const { permissions, sandbox } = this.#options;
    const settings = hookSettings(server.url, decisionTimeoutSeconds, permissions, sandbox);
    try {
      this.#attach(
        await pty.spawn({
          command: [...command, ...interactiveArguments(this.#options, settings)],
          cwd,
          env: { ...env, [HOOK_TOKEN_VARIABLE]: token },
          columns: TERMINAL_COLUMNS,
          rows: TERMINAL_ROWS,
          shell,
          stdinFile: promptFile,
        }),
      );
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    if (this.#hooks.answer(requestId, answer)) {
      if (answer.verdict !== 'deny') this.#answerLeftOver(requestId, answer);
      return 'answered';
    }
    const running = this.#running;
    if (running === undefined) return 'gone';
    // An answer may end the session ("No, exit"), and its last screen changes no more: nobody waits for that then.
    const ended = running.session.exited.then(() => 'answered' as const);
    return Promise.race([running.dialogs.answer(requestId, answer), ended]);
  }

  async send(text: string): Promise<SendResult> {
    const { composer } = this.#mustRun();
    const result = await composer.send(text);
    if (result === 'sent') this.#watch.turnStarted();
    return result;
  }

  /** What is open is denied through its hook: Esc goes to the turn, and to no dialog. */
  async interrupt(): Promise<void> {
    const { gate, session } = this.#mustRun();
    const isDenied = this.#hooks.denyAll(INTERRUPTED);
    if (isDenied)
      await withinMs(this.#options.clock, CLOSE_LIMIT_MS, Promise.race([gate.whenOpen(), session.exited]));
    // Asked meanwhile.
    this.#hooks.denyAll(INTERRUPTED);
    this.#watch.interrupted();
    gate.press(ESCAPE, 'a caller interrupts the turn');
  }

  async close(): Promise<void> {
    this.#closing = true;
    if (this.#running === undefined || this.#isGone()) return;
    if (!(await this.#running.composer.leave())) await this.kill();
  }

  async kill(): Promise<void> {
    this.#closing = true;
    const session = this.#running?.session;
    if (session === undefined) return;
    await this.#options.killTree(session.pid);
    await session.exited;
  }

  async screen(): Promise<ScreenView> {
    const { screen } = this.#mustHaveStarted();
    await screen.settled();
    const { lines, columns, rows } = screen.snapshot();
    return { text: lines.join('\n').trimEnd(), columns, rows };
  }

  get terminal(): SessionTerminal | undefined {
    return this.#running?.terminal;
  }

  lastOutput(maxChars: number): string {
    return tailChars(this.#watch.readable, maxChars);
  }

  dispose(): void {
    this.#nextLook?.dispose();
    this.#running?.dialogs.dispose();
    this.#running?.session.dispose();
    this.#owned.dispose();
  }

  #attach(session: PtySession): void {
    const { clock, onBytes } = this.#options;
    const screen = this.#owned.add(
      new Screen({
        columns: TERMINAL_COLUMNS,
        rows: TERMINAL_ROWS,
        scrollback: SCROLLBACK_LINES,
        clock,
        // Any program may print a question; its answer is no key, but a part of it could be taken for one.
        reply: (data) => {
          if (!this.#hooks.isWaiting) session.write(data);
        },
      }),
    );
    const shown = (): Snapshot => screen.snapshot();
    const gate = new KeyGate({
      clock,
      write: (keys) => session.write(keys),
      requests: this.#hooks,
      fire: (event) => this.#fire(event),
    });
    const press = gate.press.bind(gate);
    const whenOpen = gate.whenOpen.bind(gate);
    const dialogs = new ScreenDialogs({
      clock,
      lines: shown,
      onFrame: this.#frames.event,
      press,
      fire: (event) => this.#fire(event),
      phase: () => this.#phase(),
      hookWaits: () => gate.isAsked,
      whenOpen,
      isLimitTold: () => this.#isLimitTold,
      onTurnSeen: () => this.#watch.turnSeen(),
      onTurnStopped: (message) => this.#goOn(message),
      onDismissed: () => this.#watch.limitMenuSeen(),
    });
    const composer = new Composer(
      {
        screen: shown,
        onFrame: this.#frames.event,
        press,
        whenOpen,
        isGone: () => this.#isGone(),
        exited: session.exited,
      },
      clock,
    );
    const typed = (data: string | Uint8Array): boolean => {
      // Esc and Ctrl-C at the terminal interrupt a turn, as ours do, and no hook tells.
      if (isInterrupt(data)) this.#watch.interrupted();
      this.#hooks.typed();
      return session.write(data);
    };
    const keys = { write: typed, resize: session.resize.bind(session) };
    const terminal = new SessionTerminal(keys, screen, { columns: TERMINAL_COLUMNS, rows: TERMINAL_ROWS });
    this.#running = { session, terminal, screen, dialogs, composer, gate };
    this.#owned.add(screen.onFrame(() => this.#onFrame()));
    this.#owned.add(this.#hooks.onDidClose(() => this.#lookSoon()));
    this.#owned.add(
      session.onData((bytes) => {
        this.#bytesUntold += bytes.length;
        onBytes(bytes, session);
        pauseUntil(session, screen.feed(bytes));
      }),
    );
    this.#owned.add(session.onExit((exit) => void this.#onExit(exit)));
    this.#owned.add(clock.after(SILENT_START_MS, () => this.#onSilentStart()));
    this.#fire({ type: 'spawned', pid: session.pid });
  }

  /** A changed command's dialog stays after the hook's answer in 2.1.330; a plan's may, where the CLI does not take its plan back. */
  #answerLeftOver(requestId: string, answer: SessionAllowance): void {
    const dialogs = this.#running?.dialogs;
    if (this.#hooks.isPlan(requestId)) dialogs?.answerLeftOver('plan-ready', answer);
    else if (answer.input !== undefined) dialogs?.answerLeftOver('tool-permission', answer);
  }

  /** A denial at the terminal stops the turn; the message lets the agent go on without what was denied. */
  async #goOn(message: string): Promise<void> {
    const why = await this.send(message).catch(messageOf);
    if (why === 'sent') return;
    this.#fire({ type: 'notice', text: `The denial's message could not be told: ${why}` });
  }

  /** Which dialogs may be believed. Every turn begins with a hook, if hooks are on. */
  #phase(): DialogPhase {
    if (this.#hooks.state === 'live') return 'hooks';
    return this.#watch.turn === 'before' ? 'start' : 'screen';
  }

  #onFrame(): void {
    this.#frames.fire();
    this.#lookSoon();
  }

  #lookSoon(): void {
    if (this.#isGone()) return;
    this.#nextLook ??= this.#options.clock.after(LOOK_INTERVAL_MS, () => {
      this.#nextLook = undefined;
      this.#look();
    });
  }

  /** Looks at the screen for what no hook tells. */
  #look(): void {
    if (this.#isGone() || this.#running === undefined) return;
    const shown = this.#running.screen.snapshot();
    if (!this.#closing) this.#watch.remember(shown);
    this.#tellOutput();
    this.#running.dialogs.look();
    this.#watch.look(shown);
  }

  #onHookEvent(event: SessionEvent): void {
    if (event.type === 'turn-started') {
      this.#isLimitTold = false;
      this.#watch.turnStarted();
    }
    if (event.type === 'turn-ended') {
      this.#isLimitTold = event.error?.kind === 'usage-limit';
      this.#watch.turnEnded();
    }
    if (event.type === 'request' && event.request.kind === 'plan')
      this.#running?.dialogs.forgetLeftOver('plan-ready');
    this.#fire(event);
  }

  #onSilentStart(): void {
    if (this.#running === undefined || this.#phase() !== 'start' || this.#isGone()) return;
    if (this.#running.dialogs.isOpen) return;
    const shown = readableText(this.#running.screen.snapshot());
    this.#fire({
      type: 'notice',
      text: `No sign of life ${SILENT_START_MS / 1000} s after the start; the screen shows: ${shown === '' ? '(nothing)' : shown}`,
    });
  }

  async #onExit(exit: ExitStatus): Promise<void> {
    const running = this.#running;
    await running?.screen.settled();
    if (running !== undefined && (this.#watch.turn === 'before' || !this.#closing))
      this.#watch.remember(running.screen.snapshot());
    this.#tellOutput();
    this.#exit = exit;
    this.#nextLook?.dispose();
    this.#frames.fire();
    running?.dialogs.withdraw('the session ended');
    this.#hooks.withdraw('the session ended');
    this.#fire({ type: 'exited', exit });
  }

  /** New bytes, or what bytes told before have come to show: a frame may follow the look that counted its bytes. */
  #tellOutput(): void {
    const { readable } = this.#watch;
    if (this.#bytesUntold === 0 && readable === this.#readableTold) return;
    const bytes = this.#bytesUntold;
    this.#bytesUntold = 0;
    this.#readableTold = readable;
    this.#fire({ type: 'output', bytes });
  }

  #fire(event: SessionEvent): void {
    this.#events.fire(event);
  }

  #isGone(): boolean {
    return this.#exit !== undefined;
  }

  #mustRun(): Running {
    if (!this.#isGone()) return this.#mustHaveStarted();
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      'The session of Claude Code has ended.',
      'Start a new task with start_task.',
    );
  }

  #mustHaveStarted(): Running {
    if (this.#running !== undefined) return this.#running;
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      'The session of Claude Code has not started yet.',
      'Try again in a moment.',
    );
  }
}

/** A key alone: escape sequences and pasted text come in one piece. */
function isInterrupt(data: string | Uint8Array): boolean {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
  return text === ESCAPE || text === CTRL_C;
}
