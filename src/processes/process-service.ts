import { withinMs, type Clock } from '../base/clock.js';
import type { ActiveProject } from '../projects/active-project.js';
import { WORK_DIRECTORY } from './docker/docker-spec.js';
import { headAndTail } from './output/first-output.js';
import { OutputReader, type Extent } from './output/output-reader.js';
import { lastLines, textFrom, type OutputText } from './output/read-text.js';
import { searchOutput, type OutputSearch } from './output/search-output.js';
import { textFinder } from './output/text-finder.js';
import type { OutputStream } from './process-backend.js';
import type { ProcessExit, ProcessStats, TerminalSize } from './process-handle.js';
import type { FoundProcess, ProcessManager } from './process-manager.js';
import type { ProcessRecord } from './process-record.js';
import type { ScreenText } from './process-screen.js';
import type { ProcessStore } from './process-store.js';
import { promptIn } from './prompt-hint.js';
import { err, ok, unreachable, type Err, type Result } from './result.js';
import type { RunningProcess } from './running-process.js';
import type { SpawnRequest } from './spawn-request.js';
import { waitForOutput, type WaitOutcome } from './wait-for-output.js';

/** What one answer shows of the first output. */
const FIRST_OUTPUT_CHARS = 8_196;
/** A search gives up its turn after this; the next goes on at its cursor. */
const SEARCH_LIMIT_MS = 5_000;
const MAX_FOUND = 50;
const MAX_LINE_CHARS = 300;
/** A signal that does not end a process by design may end it all the same: the answer tells what came of it. */
const AFTER_SIGNAL_MS = 250;

/** Signals that ask a process to end: the ladder climbs on from them. */
const ENDING: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGKILL']);

/** What a process has shown, as an answer holds it. */
export interface ShownOutput {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly screen?: string;
  /** The unfinished last line, where it looks like a prompt. */
  readonly prompt?: string;
}

export interface SpawnOutcome extends ShownOutput {
  readonly record: ProcessRecord;
  /** It runs, and nobody waits for it any more. */
  readonly isBackground: boolean;
}

export interface InputQuery {
  readonly id: string;
  readonly text?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly eof?: boolean | undefined;
  readonly size?: TerminalSize | undefined;
  readonly waitFor?: string | undefined;
  readonly limitMs: number;
}

export interface InputOutcome extends ShownOutput {
  readonly record: ProcessRecord;
  readonly outcome: WaitOutcome;
}

export interface OutputQuery {
  readonly id: string;
  readonly stream?: OutputStream | undefined;
  readonly lines: number;
  readonly cursor?: number | undefined;
  readonly maxBytes: number;
  readonly search?: string | undefined;
  readonly isRegex: boolean;
  readonly screen: boolean;
}

export interface OutputOutcome {
  readonly record: ProcessRecord;
  readonly stream: OutputStream;
  readonly extents: Readonly<Partial<Record<OutputStream, Extent>>>;
  readonly text?: OutputText;
  readonly search?: OutputSearch;
  readonly screen?: ScreenText;
}

export interface ListedProcess {
  readonly record: ProcessRecord;
  readonly stats?: ProcessStats;
  readonly printedBytes: number;
}

export interface KillOutcome {
  readonly record: ProcessRecord;
  /** How it ended; undefined when it still runs. */
  readonly exit?: ProcessExit;
  /** Processes that the system did not let go. */
  readonly left: number;
  /** What an ended process had left behind, and is gone now. */
  readonly leftBehind: number;
}

/** What a caller of `spawn` gives; its folder is judged here. */
export interface SpawnWish extends Omit<SpawnRequest, 'cwd' | 'mountProject'> {
  /** Host: a folder in the allowed roots, or relative to the active project, which it is without. */
  readonly cwd?: string | undefined;
  /** A folder in the allowed roots, or relative to the active project (`.`), that the container sees. */
  readonly mountProject?: string;
}

/** What the tools do with processes. */
export class ProcessService {
  readonly #manager: ProcessManager;
  readonly #store: ProcessStore;
  readonly #clock: Clock;
  readonly #project: Pick<ActiveProject, 'absolute' | 'resolve'>;

  constructor({
    manager,
    store,
    clock,
    project,
  }: {
    readonly manager: ProcessManager;
    readonly store: ProcessStore;
    readonly clock: Clock;
    readonly project: Pick<ActiveProject, 'absolute' | 'resolve'>;
  }) {
    this.#manager = manager;
    this.#project = project;
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Starts it and waits for its end, at most `limitMs`; 0 does not wait. Who cancels ends it. Throws what AllowedRoots
   * throws for the folder.
   */
  async spawn(wish: SpawnWish, limitMs: number, signal: AbortSignal): Promise<Result<SpawnOutcome>> {
    const { mountProject, ...rest } = wish;
    const mounted =
      mountProject === undefined
        ? {}
        : { mountProject: await this.#project.resolve(this.#project.absolute(mountProject)) };
    const started = await this.#manager.spawn({ ...rest, cwd: await this.#folder(wish), ...mounted });
    if (!started.ok) return withShellHint(started, wish);
    const running = started.value;
    const cancelled = new Promise<'cancelled'>((resolve) => {
      signal.addEventListener('abort', () => resolve('cancelled'), { once: true });
    });
    const end =
      limitMs === 0
        ? undefined
        : await withinMs(this.#clock, limitMs, Promise.race([running.ended, cancelled]));
    // Nobody knows its pid: it could not be ended later.
    if (end === 'cancelled' || signal.aborted) await running.kill('SIGTERM');
    const { record } = running;
    return ok({
      record,
      isBackground: record.status === 'running',
      ...(limitMs > 0 || record.status === 'terminated' ? await this.#shown(running, {}) : {}),
    });
  }

  /** Gives input, in the order text, keys, end of input, and waits for what comes of it. */
  async input(query: InputQuery, signal: AbortSignal): Promise<Result<InputOutcome>> {
    const found = await this.#running(query.id);
    if (!found.ok) return found;
    const running = found.value;
    const { text, keys, eof, size, waitFor, limitMs } = query;
    const holds = waitFor === undefined ? ok(undefined) : textFinder(waitFor, true);
    if (!holds.ok) return holds;
    const before = await running.printed();
    const steps = [
      () => (size === undefined ? undefined : running.resize(size)),
      () => (text === undefined || text === '' ? undefined : running.write(Buffer.from(text))),
      () => (keys === undefined || keys.length === 0 ? undefined : running.press(keys)),
      () => (eof === true ? running.endInput() : undefined),
    ];
    for (const step of steps) {
      const done = await step();
      if (done?.ok === false) return done;
    }
    const folder = this.#store.folder(query.id);
    const outcome = await waitForOutput({
      running,
      folder,
      before,
      holds: holds.value,
      limitMs,
      clock: this.#clock,
      signal,
    });
    if (!outcome.ok) return outcome;
    return ok({
      record: running.record,
      outcome: outcome.value,
      ...(await this.#shown(running, before.bytes)),
    });
  }

  async output(query: OutputQuery, signal: AbortSignal): Promise<Result<OutputOutcome>> {
    const found = await this.#manager.find(query.id);
    if (!found.ok) return found;
    const { record, running } = found.value;
    await running?.printed();
    const streams: readonly OutputStream[] = record.tty === null ? ['stdout', 'stderr'] : ['terminal'];
    const stream = query.stream ?? streams[0] ?? 'stdout';
    if (!streams.includes(stream)) {
      return err(
        'NO_TERMINAL',
        `The stream ${stream} was asked for, and the process has ${record.tty === null ? 'no terminal' : 'a terminal, where stdout and stderr are one'}.`,
        `Ask for ${streams.join(' or ')}.`,
      );
    }
    const folder = this.#store.folder(query.id);
    const reader = new OutputReader(folder, stream);
    const extents = Object.fromEntries(
      await Promise.all(
        streams.map(async (one) => [one, await new OutputReader(folder, one).extent()] as const),
      ),
    );
    const about = { record, stream, extents };
    if (query.screen) {
      const screen = await screenOf(found.value);
      return screen.ok ? ok({ ...about, screen: screen.value }) : screen;
    }
    if (query.search !== undefined) {
      const holds = textFinder(query.search, query.isRegex);
      if (!holds.ok) return holds;
      const search = await searchOutput(reader, holds.value, {
        from: query.cursor ?? 0,
        maxFound: MAX_FOUND,
        maxLineChars: MAX_LINE_CHARS,
        limitMs: SEARCH_LIMIT_MS,
        clock: this.#clock,
        signal,
      });
      return ok({ ...about, search });
    }
    const hasEnded = record.status === 'terminated';
    const text =
      query.cursor === undefined
        ? await lastLines(reader, query.lines, query.maxBytes, hasEnded)
        : await textFrom(reader, query.cursor, query.maxBytes, hasEnded);
    return ok({ ...about, text });
  }

  /** Those that run, and the `recent` that ended last. */
  async list(recent: number): Promise<ListedProcess[]> {
    const all = await this.#manager.list();
    const running = all.filter(({ record }) => record.status === 'running');
    const ended = all
      .filter(({ record }) => record.status === 'terminated')
      .sort((a, b) => ((a.record.ended_at ?? '') < (b.record.ended_at ?? '') ? 1 : -1));
    return Promise.all([...running, ...ended.slice(0, recent)].map((one) => this.#listed(one)));
  }

  /** Signals the whole tree. A signal that asks for the end is followed by harder ones until nothing is left. */
  async kill(id: string, name: NodeJS.Signals): Promise<Result<KillOutcome>> {
    const found = await this.#manager.find(id);
    if (!found.ok) return found;
    const { record, running } = found.value;
    const isEnding = ENDING.has(name);
    if (running === undefined) {
      if (isEnding && record.keep && record.status === 'running') return this.#endStuck(record);
      const leftBehind = record.status === 'terminated' ? await this.#manager.endLeftBehind(record) : 0;
      return leftBehind > 0 ? ok({ record, left: 0, leftBehind }) : notRunning(record);
    }
    if (!isEnding) {
      const sent = await running.signal(name, { tree: true });
      if (!sent.ok) return sent;
      await withinMs(this.#clock, AFTER_SIGNAL_MS, running.ended);
      return ok({ record: running.record, left: 0, leftBehind: 0 });
    }
    const killed = await running.kill(name);
    if (!killed.ok) return killed.fault.code === 'UNREACHABLE' ? this.#endStuck(record) : killed;
    return ok({ record: running.record, ...killed.value, leftBehind: 0 });
  }

  async #endStuck(record: ProcessRecord): Promise<Result<KillOutcome>> {
    const ended = await this.#manager.endStuck(record);
    return ended.ok ? ok({ record: ended.value, left: 0, leftBehind: 0 }) : ended;
  }

  async #folder({ mode, cwd }: SpawnWish): Promise<string> {
    if (mode === 'docker') return cwd ?? WORK_DIRECTORY;
    return this.#project.resolve(cwd === undefined ? undefined : this.#project.absolute(cwd));
  }

  async #running(id: string): Promise<Result<RunningProcess>> {
    const found = await this.#manager.find(id);
    if (!found.ok) return found;
    const { record, running } = found.value;
    return running === undefined ? notRunning(record) : ok(running);
  }

  async #listed({ record, running }: FoundProcess): Promise<ListedProcess> {
    const [stats, printedBytes] = await Promise.all([running?.stats(), this.#printedBytes(record, running)]);
    return { record, ...(stats?.ok === true && { stats: stats.value }), printedBytes };
  }

  async #printedBytes(record: ProcessRecord, running: RunningProcess | undefined): Promise<number> {
    await running?.printed();
    const streams: readonly OutputStream[] = record.tty === null ? ['stdout', 'stderr'] : ['terminal'];
    const folder = this.#store.folder(record.process_id);
    const extents = await Promise.all(streams.map((one) => new OutputReader(folder, one).extent()));
    return extents.reduce((sum, { end }) => sum + end, 0);
  }

  /** What was printed since; of a terminal what it shows. */
  async #shown(
    running: RunningProcess,
    since: Readonly<Partial<Record<OutputStream, number>>>,
  ): Promise<ShownOutput> {
    const { record } = running;
    if (record.tty !== null) {
      const shown = record.screen === null ? await running.screen() : undefined;
      const screen = shown?.ok === true ? shown.value.text : (record.screen ?? '');
      return { screen, ...promptOf(screen, record) };
    }
    const { bytes } = await running.printed();
    const folder = this.#store.folder(record.process_id);
    const errorBytes = (bytes.stderr ?? 0) - (since.stderr ?? 0);
    const outputBytes = (bytes.stdout ?? 0) - (since.stdout ?? 0);
    // Each has half, and what the other leaves of its own.
    const half = FIRST_OUTPUT_CHARS / 2;
    const [stdout, stderr] = await Promise.all([
      headAndTail(
        new OutputReader(folder, 'stdout'),
        since.stdout ?? 0,
        Math.max(half, FIRST_OUTPUT_CHARS - errorBytes),
      ),
      headAndTail(
        new OutputReader(folder, 'stderr'),
        since.stderr ?? 0,
        Math.max(half, FIRST_OUTPUT_CHARS - outputBytes),
      ),
    ]);
    return { stdout, stderr, ...promptOf(stdout, record) };
  }
}

/** A whole command line was given as the name of a program. */
function withShellHint(refused: Err, { command }: SpawnWish): Err {
  const isLine = command.length === 1 && /\s/.test(command[0].trim());
  if (refused.fault.code !== 'PROGRAM_NOT_FOUND' || !isLine) return refused;
  const hint = 'Give its arguments in args, one by one, or set shell to have a shell read the line.';
  return { ok: false, fault: { ...refused.fault, hint } };
}

function promptOf(text: string, { status }: ProcessRecord): Pick<ShownOutput, 'prompt'> {
  const prompt = status === 'running' ? promptIn(text) : undefined;
  return prompt === undefined ? {} : { prompt };
}

async function screenOf({ record, running }: FoundProcess): Promise<Result<ScreenText>> {
  if (running !== undefined) return running.screen();
  if (record.tty === null || record.screen === null)
    return err(
      'NO_TERMINAL',
      'The screen of a process without a terminal was asked for.',
      'Read its output.',
    );
  return ok({ text: record.screen, cursor: { column: 0, row: 0 }, size: record.tty });
}

function notRunning(record: ProcessRecord) {
  if (record.status === 'running' && record.keep)
    return unreachable(record.process_id, 'its keeper runs, and takes no connection');
  if (record.status === 'running')
    return err(
      'NOT_RUNNING',
      `The process ${record.process_id} belongs to another server, which runs.`,
      'Its output can be read; only that server gives it input or ends it.',
    );
  return err(
    'NOT_RUNNING',
    `The process ${record.process_id} has ended.`,
    'Its output can still be read; start it again if need be.',
  );
}
