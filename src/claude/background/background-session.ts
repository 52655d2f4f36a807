import { sleep, withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { Pid } from '../../os/pid.js';
import { isSameKey, type ProcessKey } from '../../os/process-info.js';
import type { Child, TerminalSize, WriteResult } from '../../pty/child.js';
import type { ExitStatus } from '../session.js';
import type { BackgroundCli, BackgroundEntry } from './background-cli.js';
import { endBackground, endProcess, findBackground, keyOfPid, type BackgroundEnd } from './end-background.js';

/** The process of a session is there within a second or two. */
const RUNS_LIMIT_MS = 20_000;
const RUNS_INTERVAL_MS = 300;
/** How often it is checked that the process still runs. */
const WATCH_INTERVAL_MS = 400;
/** Claude Code starts a session that crashed again after 10 s. By then it must be stopped. */
const WHY_LIMIT_MS = 3_000;
const WHY_INTERVAL_MS = 500;
/** Claude Code may be slow, or be replaced by a newer version at that moment. */
const END_ATTEMPTS = 3;
/** The terminal of a session that has ended closes on its own. */
const DETACH_LIMIT_MS = 3_000;

export interface BackgroundSessionOptions {
  readonly cli: BackgroundCli;
  readonly clock: Clock;
  /** The first word of its name. */
  readonly name: string;
  /** Starts the session. */
  readonly launch: () => Promise<void>;
  /** Opens a terminal that shows the session. */
  readonly attach: (id: string) => Promise<Child>;
  /** Something for the journal. */
  readonly onNotice: (text: string) => void;
  /** Claude Code has started the session again, in another process. */
  readonly onRestarted: (pid: Pid) => void;
}

/**
 * A session of Claude Code's background service, and a terminal that shows it. The service starts and reaps its process; here it is known
 * by pid and start time. The end of the terminal is not the end of the session, which gets another one then.
 */
export class BackgroundSession {
  readonly #options: BackgroundSessionOptions;
  readonly id: string;
  readonly sessionId: string;
  #key: ProcessKey;
  #terminal: Child;
  #isAttached = true;
  #ending: Promise<BackgroundEnd | undefined> | undefined;
  #isDisposed = false;
  /** Resolves when its process is gone and it is not in the list any more. Never rejects. */
  readonly exited: Promise<ExitStatus>;

  private constructor(
    options: BackgroundSessionOptions,
    { id, sessionId, key, terminal }: Started & { readonly terminal: Child },
  ) {
    this.#options = options;
    this.id = id;
    this.sessionId = sessionId;
    this.#key = key;
    this.#terminal = terminal;
    this.#follow(terminal);
    this.exited = this.#watch();
  }

  /**
   * Starts the session and waits for its process. Throws BridgeError TASK_START_FAILED, and leaves nothing behind, when there is none.
   */
  static async open(
    options: BackgroundSessionOptions,
    onFound: (id: string) => Promise<void>,
  ): Promise<BackgroundSession> {
    const { cli, name, clock, launch, attach } = options;
    try {
      await launch();
      const started = await whenRunning(options);
      await onFound(started.id);
      return new BackgroundSession(options, { ...started, terminal: await attach(started.id) });
    } catch (error) {
      await endBackground(cli, { name }, clock).catch(() => undefined);
      throw error;
    }
  }

  get pid(): Pid {
    return this.#key.pid;
  }

  write(data: string | Uint8Array): WriteResult {
    return this.#terminal.write(data);
  }

  resize(size: TerminalSize): Promise<void> {
    return this.#terminal.resize(size);
  }

  /** Whether Claude Code says that the session waits for its person; undefined where it does not say. */
  async isBlocked(): Promise<boolean | undefined> {
    const status = findBackground(await this.#options.cli.list(), this)?.status;
    return status === undefined ? undefined : status === 'waiting';
  }

  get name(): string {
    return this.#options.name;
  }

  /** Stops the session and removes it from the list. Resolves when that is done. Never rejects. */
  async end(): Promise<void> {
    const { onNotice } = this.#options;
    this.#ending ??= this.#endedByAnyMeans();
    const end = await this.#ending;
    if (end?.isRemoved === false)
      onNotice(
        `Claude Code did not remove the ended session ${this.id} from its list; claude rm ${this.id} does.`,
      );
  }

  /** By its process alone where Claude Code does not answer. */
  async #endedByAnyMeans(): Promise<BackgroundEnd | undefined> {
    const { cli, clock, onNotice } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await endBackground(cli, this, clock);
      } catch (error) {
        if (attempt < END_ATTEMPTS) {
          await sleep(clock, WHY_INTERVAL_MS);
          continue;
        }
        onNotice(`The background session could not be ended by Claude Code: ${messageOf(error)}`);
        await endProcess(this.#key, clock).catch((why: unknown) =>
          onNotice(`Its process could not be ended: ${messageOf(why)}`),
        );
        return undefined;
      }
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#terminal.dispose();
  }

  #follow(terminal: Child): void {
    void terminal.exited.then(() => {
      if (this.#terminal === terminal) this.#isAttached = false;
    });
  }

  async #watch(): Promise<ExitStatus> {
    const { clock } = this.#options;
    let why: string | undefined;
    do {
      while (await this.#lives()) {
        if (this.#isDisposed) return {};
        if (!this.#isAttached && this.#ending === undefined) await this.#attachAgain();
        await sleep(clock, WATCH_INTERVAL_MS);
      }
      why = this.#ending === undefined ? await this.#whyGone() : undefined;
    } while (why === AGAIN);
    await this.end();
    await withinMs(clock, DETACH_LIMIT_MS, this.#terminal.exited);
    this.#terminal.dispose();
    return why === undefined ? { wasAsked: true } : { reason: why };
  }

  async #lives(): Promise<boolean> {
    try {
      const now = await keyOfPid(this.#key.pid);
      return now !== undefined && isSameKey(now, this.#key);
    } catch {
      // The system does not say.
      return true;
    }
  }

  async #attachAgain(): Promise<void> {
    try {
      this.#terminal = await this.#options.attach(this.id);
      this.#isAttached = true;
      this.#follow(this.#terminal);
    } catch (error) {
      this.#options.onNotice(`No terminal shows the background session: ${messageOf(error)}`);
    }
  }

  /** Waits until Claude Code has noticed it, too. `AGAIN` when the session has another process by now. */
  async #whyGone(): Promise<string> {
    const { clock, cli } = this.#options;
    const deadlineMs = clock.monotonicMs() + WHY_LIMIT_MS;
    for (;;) {
      const entries = await cli.list().catch(() => undefined);
      const entry = entries === undefined ? undefined : findBackground(entries, this);
      if (entries !== undefined && entry === undefined)
        return 'The background session was removed in Claude Code.';
      if (entry?.pid !== undefined && (await this.#isNewProcess(entry.pid))) return AGAIN;
      if (entry?.state === 'stopped')
        return 'The background session was stopped in Claude Code (claude stop, or in its agent view).';
      if (clock.monotonicMs() >= deadlineMs)
        return 'The process of the background session ended without a word: it was killed, or it crashed.';
      await sleep(clock, WHY_INTERVAL_MS);
    }
  }

  /** Claude Code may start a session again, for a newer version. */
  async #isNewProcess(pid: number): Promise<boolean> {
    const key = await keyOfPid(pid).catch(() => undefined);
    if (key === undefined || isSameKey(key, this.#key)) return false;
    this.#key = key;
    this.#options.onRestarted(key.pid);
    return true;
  }
}

const AGAIN = 'again';

interface Started {
  readonly id: string;
  readonly sessionId: string;
  readonly key: ProcessKey;
}

async function whenRunning({ cli, clock, name }: BackgroundSessionOptions): Promise<Started> {
  const deadlineMs = clock.monotonicMs() + RUNS_LIMIT_MS;
  for (;;) {
    const entry = findBackground(await cli.list(), { name });
    const key = entry?.pid === undefined ? undefined : await keyOfPid(entry.pid);
    if (entry?.sessionId !== undefined && key !== undefined)
      return { id: entry.id, sessionId: entry.sessionId, key };
    if (clock.monotonicMs() >= deadlineMs || hasFailed(entry)) {
      throw new BridgeError(
        'TASK_START_FAILED',
        `Claude Code’s background service did not start the session (${entry?.state ?? 'it is not listed'}).`,
        'Look into daemon.log in the folder of Claude Code (~/.claude): the service has the environment of whoever started it first. `claude daemon stop --any` ends it with all background sessions. Or use the driver interactive.',
      );
    }
    await sleep(clock, RUNS_INTERVAL_MS);
  }
}

function hasFailed(entry: BackgroundEntry | undefined): boolean {
  return entry?.pid === undefined && (entry?.state === 'failed' || entry?.state === 'stopped');
}
