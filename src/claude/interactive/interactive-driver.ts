import { withinMs } from '../../base/clock.js';
import { DisposableStore, Emitter, nextEvent, type Disposable } from '../../base/lifecycle.js';
import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { oneLine, tailLines } from '../../base/text.js';
import { allWaits, type Child, type WriteResult } from '../../pty/child.js';
import { Screen } from '../../screen/screen.js';
import { HooksServer } from '../hooks/hooks-server.js';
import {
  HOOK_TOKEN_VARIABLE,
  HOOK_URL_VARIABLE,
  hookSettings,
  type HookSettings,
} from '../hooks/hook-settings.js';
import { interactiveArguments, type LaunchOptions } from '../launch.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  SessionGuard,
  TerminalDriverOptions,
} from '../session.js';
import { SCROLLBACK_LINES, SessionTerminal, SIZE } from '../session-terminal.js';
import { Composer } from './composer.js';
import { HookSession } from './hook-session.js';
import { keyGate, KEYS, type KeyGate } from './keys.js';
import { ScreenDialogs } from './screen-dialogs.js';
import { readScreenState, shownText } from './screen-state.js';
import { ScreenWatch } from './screen-watch.js';
import { statusCommand, ToldUsage } from './told-usage.js';

/** The screen is checked at most this often; dialogs and footers do not change faster. */
const CHECK_INTERVAL_MS = 100;
/** So long a turn may show nothing before the transcript is read again. */
const QUIET_MS = 1_000;
/** Ten times what the first hook takes on a busy machine: a start without a turn is checked that often. */
const SILENT_START_MS = 30_000;
/** So often a start may show the input box, and anything else than it, a dialog or hooks at work. */
const MAX_SILENT_LOOKS = { idle: 2, other: 10 };
const SHOWN_CHARS = 300;
/** Three times what Claude Code takes to end a turn of which a request was denied so, with the idle screen that shows it. */
const CLOSE_LIMIT_MS = 2_000;
/** The end of a session is reported although its transcript cannot be read. */
const LAST_READ_LIMIT_MS = 3_000;
/** Ten times what a key takes to stop a turn. */
const STOP_LIMIT_MS = 5_000;
const INTERRUPTED = 'The turn was interrupted.';
const LOST =
  'Claude Code has begun to work without telling the bridge. Its settings for this session, hooks and rules, are not used, so it was ended.';

export interface InteractiveDriverOptions extends LaunchOptions, HookSettings, TerminalDriverOptions {
  /** What the file of the prompt holds. */
  readonly prompt: string;
  /** Where the CLI stores its transcripts on this machine; undefined if they must not be read. */
  readonly configDir: string | undefined;
  /** Where the session leaves what it tells its status line; undefined where its files cannot be read. */
  readonly statusFile?: string | undefined;
  readonly guard: SessionGuard;
}

/** The parts that exist once the program runs. */
interface Running {
  readonly child: Child;
  readonly terminal: SessionTerminal;
  readonly dialogs: ScreenDialogs;
  readonly composer: Composer;
  readonly gate: KeyGate;
}

/**
 * Drives the real TUI. Hooks are trusted; the screen provides the rest: start dialogs, interrupts, and what a person would
 * see. Keys are pressed only on a dialog that is on the screen, and text is typed only into a visible input box.
 */
export class InteractiveDriver implements SessionDriver {
  readonly #options: InteractiveDriverOptions;
  readonly #owned = new DisposableStore();
  readonly #events = this.#owned.add(new Emitter<SessionEvent>());
  readonly onEvent = this.#events.event;
  readonly #frames = this.#owned.add(new Emitter<void>());
  readonly #hooks: HookSession;
  readonly #watch: ScreenWatch;
  readonly #screen: Screen;
  /** Left out where its files cannot be read. */
  readonly usage: SessionDriver['usage'];
  #running: Running | undefined;
  #exit: ExitStatus | undefined;
  #nextCheck: Disposable | undefined;
  #nextLook: Disposable | undefined;
  #closing = false;
  /** A hook reported that the last turn ended with a usage limit. */
  #isLimitReported = false;
  #isReading = false;
  #unreportedBytes = 0;
  #reportedText = '';
  /** What the agent said last in the turn; undefined before the first. */
  #said: string | undefined;

  constructor(options: InteractiveDriverOptions) {
    this.#options = options;
    this.#hooks = this.#owned.add(new HookSession(options, (event) => this.#onHookEvent(event)));
    // Any program may print a query; part of the terminal's reply could be taken for a key.
    const reply = (data: string): void => {
      if (!this.#hooks.isWaiting) this.#running?.child.write(data);
    };
    const { clock } = options;
    this.#screen = this.#owned.add(new Screen({ ...SIZE, scrollback: SCROLLBACK_LINES, clock, reply }));
    const { configDir, statusFile } = options;
    if (configDir !== undefined && statusFile !== undefined) {
      const told = new ToldUsage({ ...options, configDir, statusFile });
      this.usage = (callId) => told.read(callId, this.#isGone());
    }
    this.#watch = new ScreenWatch({
      clock: options.clock,
      fire: (event) => {
        if (event.type === 'turn-ended') this.#hooks.turnInterrupted();
        this.#fire(event);
      },
      hooksLive: () => this.#hooks.isLive,
      checkAgain: () => this.#checkSoon(),
    });
  }

  async start(): Promise<void> {
    const { command, env, promptFile, hookCommand, statusFile, pty, cwd, shell } = this.#options;
    const token = createSecret();
    const server = await HooksServer.start({
      token,
      handle: (event, gone) => this.#hooks.handle(event, gone),
      onError: (text) => this.#fire({ type: 'notice', text }),
    });
    this.#owned.add(server);
    const status = statusFile === undefined ? undefined : statusCommand(statusFile);
    const settings = hookSettings(server.url, this.#options, status);
    const there = hookCommand === undefined ? {} : { [HOOK_URL_VARIABLE]: server.url };
    try {
      const child = await pty.spawn({
        command: [...command, ...interactiveArguments(this.#options, settings)],
        cwd,
        env: { ...env, [HOOK_TOKEN_VARIABLE]: token, ...there },
        size: SIZE,
        shell,
        stdinFile: promptFile,
        sink: { write: (_stream, bytes) => this.#onOutput(bytes) },
      });
      this.#attach(child);
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    if (this.#hooks.answer(requestId, answer)) return 'answered';
    const running = this.#running;
    if (running === undefined) return 'gone';
    // An answer may end the session ("No, exit"); then the screen does not change, and waiting for a change would not end.
    const ended = running.child.exited.then(() => 'answered' as const);
    return Promise.race([running.dialogs.answer(requestId, answer), ended]);
  }

  async send(text: string): Promise<SendResult> {
    const { composer } = this.#mustRun();
    const message = this.#hooks.expect(text);
    const result = await composer.send(message);
    // The reason of an end names the message.
    if (result !== 'left') message.dispose();
    // Claude Code keeps it for the end of a turn that began meanwhile.
    return result === 'command' && this.#watch.turn === 'running' ? 'sent' : result;
  }

  /** An open request is answered with a denial that ends its turn; what that does not end, Esc does. Meanwhile no call runs. */
  async interrupt(): Promise<void> {
    this.#mustRun();
    const isAsked = this.#hooks.isWaiting;
    const ran = this.#watch.turn === 'running';
    const stop = this.#hooks.stop(INTERRUPTED);
    try {
      await this.#hooks.reported();
      this.#watch.interrupted();
      const isOver = isAsked ? await this.#stops(CLOSE_LIMIT_MS) : this.#watch.turn !== 'running';
      // Between turns Esc takes away what covers the input box.
      if (!ran || !isOver) await this.#pressStop();
    } finally {
      stop.dispose();
    }
  }

  /** A person may have bound Esc to something else; Ctrl-C cannot be bound. */
  async #pressStop(): Promise<void> {
    const { gate } = this.#mustRun();
    for (const key of [KEYS.Esc, KEYS['Ctrl-C']]) {
      if (!gate.press(key, 'a caller interrupts'))
        throw new BridgeError(
          'DECISION_NOT_FOUND',
          'The turn was not stopped, since Claude Code asks for something again.',
          'Look at the open decisions, and try again.',
        );
      if (await this.#stops(STOP_LIMIT_MS)) return;
    }
    throw new BridgeError('INVALID_ARGUMENTS', 'Claude Code did not stop its turn on Esc, nor on Ctrl-C.', [
      { do: 'screen' },
      { do: 'end' },
    ]);
  }

  /** True once no turn runs, within the limit. */
  async #stops(limitMs: number): Promise<boolean> {
    const isOver = (): boolean => this.#watch.turn !== 'running' || this.#isGone();
    if (isOver()) return true;
    const over = nextEvent(this.#events.event, isOver).then(() => true);
    return (await withinMs(this.#options.clock, limitMs, over)) === true;
  }

  async close(): Promise<void> {
    this.#closing = true;
    if (this.#running === undefined || this.#isGone()) return;
    if (!(await this.#running.composer.leave())) await this.kill();
  }

  async kill(): Promise<void> {
    this.#closing = true;
    const child = this.#running?.child;
    if (child === undefined) return;
    await this.#options.killTree(child.pid);
    await child.exited;
  }

  async screen(): Promise<ScreenView> {
    this.#mustHaveStarted();
    await this.#screen.parsed();
    const { lines, columns, rows } = this.#screen.snapshot();
    return { text: lines.join('\n').trimEnd(), columns, rows };
  }

  get terminal(): SessionTerminal | undefined {
    return this.#running?.terminal;
  }

  lastOutput(maxChars: number): string {
    return tailLines(this.#text, maxChars);
  }

  /** Of a turn the agent's words alone: a screen shows those of Claude Code beside them. Why a program crashed is on the screen. */
  get #text(): string {
    const hasCrashed = this.#exit !== undefined && this.#exit.code !== 0 && !this.#closing;
    return (hasCrashed ? undefined : this.#said) ?? shownText(this.#screen.snapshot());
  }

  dispose(): void {
    this.#nextCheck?.dispose();
    this.#nextLook?.dispose();
    this.#running?.dialogs.dispose();
    this.#running?.child.dispose();
    this.#owned.dispose();
  }

  #onOutput(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#owned.isDisposed) return undefined;
    this.#unreportedBytes += bytes.length;
    return allWaits([this.#options.onBytes(bytes), this.#screen.feed(bytes)]);
  }

  #attach(child: Child): void {
    const { clock } = this.#options;
    const screen = this.#screen;
    const fire = (event: SessionEvent): void => this.#fire(event);
    const write = (keys: string): boolean => child.write(keys) === 'taken';
    const gate = keyGate(clock, this.#hooks, write, fire);
    const target = {
      clock,
      screen: () => screen.snapshot(),
      onFrame: this.#frames.event,
      ...gate,
      isGone: () => this.#isGone(),
      exited: child.exited,
    };
    const isStart = (): boolean => !this.#hooks.isLive && this.#watch.turn === 'before';
    const dialogs = new ScreenDialogs({
      ...target,
      fire,
      isStart,
      hookWaits: () => this.#hooks.isWaiting,
      isLimitReported: () => this.#isLimitReported,
    });
    const typed = (data: string | Uint8Array): WriteResult => {
      // Esc and Ctrl-C at the terminal interrupt a turn, as the bridge's own do, and no hook reports it.
      if (isInterrupt(data)) this.#watch.interrupted();
      this.#hooks.typed();
      return child.write(data);
    };
    const terminal = new SessionTerminal({ write: typed, resize: child.resize.bind(child) }, screen, SIZE);
    this.#running = { child, terminal, dialogs, composer: new Composer(target), gate };
    this.#owned.add(
      screen.onFrame(() => {
        this.#frames.fire();
        this.#checkSoon();
      }),
    );
    this.#owned.add(this.#hooks.onDidClose(() => this.#checkSoon()));
    void child.exited.then((exit) => this.#onExit(exit));
    this.#lookAtStart(0);
    this.#fire({ type: 'spawned', pid: child.pid });
  }

  #checkSoon(afterMs = CHECK_INTERVAL_MS): void {
    if (this.#isGone()) return;
    this.#nextCheck ??= this.#options.clock.after(afterMs, () => {
      this.#nextCheck = undefined;
      this.#checkScreen();
    });
  }

  /** Checks the screen for what no hook reports. */
  #checkScreen(): void {
    if (this.#isGone() || this.#running === undefined) return;
    const shown = this.#screen.snapshot();
    this.#reportOutput();
    if (this.#watch.turn !== 'before' || !this.#hooks.isLive) this.#readTranscript();
    this.#running.dialogs.check();
    this.#watch.check(shown);
    // A prompt that a hook blocked is in the transcript a moment after it was on the screen.
    if (this.#watch.turn === 'running' && readScreenState(shown) === 'idle') this.#checkSoon(QUIET_MS);
  }

  /** One at a time: on a slow disk the next check reads what has come meanwhile. */
  #readTranscript(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#lookInTranscript().finally(() => (this.#isReading = false));
  }

  /**
   * An answer of the model is a turn, of which a hook tells before the model is asked. One invalid value, and Claude Code drops all
   * settings without a word: hooks and rules (2.1.330).
   */
  async #lookInTranscript(): Promise<void> {
    const hasAnswered = await this.#hooks.readTranscript();
    if (hasAnswered && !this.#hooks.isLive) this.#watch.trouble({ kind: 'settings-lost', text: LOST });
  }

  #onHookEvent(event: SessionEvent): void {
    if (event.type === 'turn-started') this.#watch.turnStarted();
    if (event.type === 'turn-started') this.#isLimitReported = false;
    if (event.type === 'turn-ended') this.#isLimitReported = event.error?.kind === 'usage-limit';
    if (event.type === 'turn-ended' || event.type === 'prompt-blocked') this.#watch.turnEnded();
    // Its dialog may be on the screen already.
    if (event.type === 'request') this.#checkSoon();
    this.#fire(event);
  }

  /** `silent`: how often in a row nothing has told why no turn begins. */
  #lookAtStart(silent: number): void {
    this.#nextLook = this.#options.clock.after(SILENT_START_MS, () => {
      if (this.#running === undefined || this.#watch.turn !== 'before' || this.#isGone()) return;
      const shown = this.#screen.snapshot();
      const state = readScreenState(shown);
      const looks = this.#running.dialogs.isOpen || state === 'busy' ? 0 : silent + 1;
      const text = `the screen shows: ${oneLine(tailLines(shownText(shown), SHOWN_CHARS), SHOWN_CHARS) || '(nothing)'}`;
      if (looks === MAX_SILENT_LOOKS[state === 'idle' ? 'idle' : 'other']) {
        this.#fire({ type: 'trouble', kind: 'silent', text: `Claude Code began no turn; ${text}` });
        return;
      }
      if (looks === 1)
        this.#fire({ type: 'notice', text: `No turn ${SILENT_START_MS / 1000} s after the start; ${text}` });
      this.#lookAtStart(looks);
    });
  }

  async #onExit(exit: ExitStatus): Promise<void> {
    const running = this.#running;
    await this.#screen.parsed();
    await withinMs(this.#options.clock, LAST_READ_LIMIT_MS, this.#lookInTranscript());
    if (this.#owned.isDisposed) return;
    if (running !== undefined && (this.#watch.turn === 'before' || !this.#closing))
      this.#watch.exited(this.#screen.snapshot());
    this.#reportOutput();
    this.#exit = exit;
    this.#nextCheck?.dispose();
    this.#nextLook?.dispose();
    this.#frames.fire();
    running?.dialogs.withdraw('the session ended');
    this.#hooks.withdraw('the session ended');
    this.#fire({ type: 'exited', exit: { ...exit, ...this.#leftUnasked(exit) } });
  }

  /** Its own words, such as `exit`, end Claude Code with code 0, and no hook reports them. */
  #leftUnasked({ code }: ExitStatus): Pick<ExitStatus, 'reason'> {
    const { expected } = this.#hooks;
    if (this.#closing || code !== 0 || expected === undefined) return {};
    return {
      reason: `Claude Code took ${JSON.stringify(oneLine(expected, 40))} for a word of its own to leave, and ended before its turn began.`,
    };
  }

  /** Reports new bytes, or a text that changed without new bytes: a frame may follow the check that counted its bytes. */
  #reportOutput(): void {
    if (this.#unreportedBytes === 0 && this.#text === this.#reportedText) return;
    const bytes = this.#unreportedBytes;
    this.#unreportedBytes = 0;
    this.#reportedText = this.#text;
    this.#fire({ type: 'output', bytes });
  }

  #fire(event: SessionEvent): void {
    if (event.type === 'turn-started') this.#said = '';
    if (event.type === 'said') this.#said = event.text;
    this.#events.fire(event);
  }

  #isGone(): boolean {
    return this.#exit !== undefined;
  }

  #mustRun(): Running {
    if (!this.#isGone()) return this.#mustHaveStarted();
    throw new BridgeError('TASK_NOT_RUNNING', 'The session of Claude Code has ended.', [{ do: 'start' }]);
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

/** True for the key alone: escape sequences and pasted text arrive in one piece. */
function isInterrupt(data: string | Uint8Array): boolean {
  const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
  return text === KEYS.Esc || text === KEYS['Ctrl-C'];
}
