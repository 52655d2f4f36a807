import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, ignoreBridgeError } from '../base/errors.js';
import type { ActiveProject } from '../projects/active-project.js';
import { notRunning, processUnreachable } from './child-handle.js';
import { WORK_DIRECTORY } from './docker/container-options.js';
import { headAndTail, lastLines, type OutputText, textFrom } from './output/read-text.js';
import { OutputReader, type Extent } from './output/output-reader.js';
import { type OutputSearch, searchOutput, textFinder } from './output/search-output.js';
import type {
  ProcessExit,
  ProcessMode,
  ProcessStats,
  RunningProcess,
  ScreenText,
  SpawnRequest,
} from './process-handle.js';
import type { OutputStream, TerminalSize } from '../pty/child.js';
import type { FoundProcess, ProcessManager } from './process-manager.js';
import type { ProcessRecord } from './process-record.js';
import type { ProcessStore } from './process-store.js';
import { waitForOutput, type WaitOutcome } from './wait-for-output.js';

/** What one answer shows of the first output. */
const FIRST_OUTPUT_CHARS = 8_196;
/** Any signal may end a process. The answer reports an end within this time. */
const AFTER_SIGNAL_MS = 250;

/** Signals that ask a process to end: the ladder climbs on from them. */
const ENDING: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGKILL']);

/** What a process has shown, as an answer holds it. */
export interface ShownOutput {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly screen?: string;
}

export interface SpawnOutcome extends ShownOutput {
  readonly record: ProcessRecord;
  /** It runs, and the call no longer waits for it. */
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

/** The arguments of `spawn`, before the folder is checked. */
export interface SpawnArguments extends Omit<SpawnRequest, 'cwd' | 'mountProject'> {
  /** Host: a folder in the allowed roots, or relative to the active project, which it is without. */
  readonly cwd?: string | undefined;
  /** A folder in the allowed roots, or relative to the active project (`.`), that the container sees. */
  readonly mountProject?: string;
}

export interface ProcessServiceParts {
  readonly manager: ProcessManager;
  readonly store: ProcessStore;
  readonly clock: Clock;
  readonly project: Pick<ActiveProject, 'resolve'>;
  readonly defaultMode?: ProcessMode;
}

/** What the tools do with processes. Its methods throw BridgeError. */
export class ProcessService {
  /** Of a call that names none. */
  readonly defaultMode: ProcessMode;
  readonly #parts: ProcessServiceParts;

  constructor(parts: ProcessServiceParts) {
    this.defaultMode = parts.defaultMode ?? 'host';
    this.#parts = parts;
  }

  /**
   * Starts it and waits for its end, at most `limitMs`; 0 does not wait. A cancelled call ends it. Throws what AllowedRoots
   * throws for the folder.
   */
  async spawn(args: SpawnArguments, limitMs: number, signal: AbortSignal): Promise<SpawnOutcome> {
    const { mountProject, ...rest } = args;
    const mounted =
      mountProject === undefined
        ? {}
        : { mountProject: await this.#parts.project.resolve(mountProject, 'mount_project') };
    const request = { ...rest, cwd: await this.#folder(args), ...mounted };
    const running = await this.#parts.manager.spawn(request).catch((error: unknown) => {
      throw withShellHint(error, args);
    });
    const cancelled = new Promise<'cancelled'>((resolve) => {
      signal.addEventListener('abort', () => resolve('cancelled'), { once: true });
    });
    const end =
      limitMs === 0
        ? undefined
        : await withinMs(this.#parts.clock, limitMs, Promise.race([running.ended, cancelled]));
    // The caller does not know its pid, so it could not be ended later.
    if (end === 'cancelled' || signal.aborted) await running.kill('SIGTERM').catch(ignoreBridgeError);
    const { record } = running;
    return {
      record,
      isBackground: record.status === 'running',
      ...(limitMs > 0 || record.status === 'terminated' ? await this.#shown(running, {}) : {}),
    };
  }

  /** Gives input, in the order text, keys, end of input, and waits for what comes of it. */
  async input(query: InputQuery, signal: AbortSignal): Promise<InputOutcome> {
    const running = await this.#running(query.id);
    const { text, keys, eof, size, waitFor, limitMs } = query;
    const holds = waitFor === undefined ? undefined : textFinder(waitFor, true);
    const before = await running.printed();
    if (size !== undefined) await running.resize(size);
    if (text !== undefined && text !== '') await running.write(Buffer.from(text));
    if (keys !== undefined && keys.length > 0) await running.press(keys);
    if (eof === true) await running.endInput();
    const folder = this.#parts.store.folder(query.id);
    const outcome = await waitForOutput({
      running,
      folder,
      before,
      holds,
      limitMs,
      clock: this.#parts.clock,
      signal,
    });
    return { record: running.record, outcome, ...(await this.#shown(running, before)) };
  }

  async output(query: OutputQuery, signal: AbortSignal): Promise<OutputOutcome> {
    const found = await this.#parts.manager.find(query.id);
    const { record, running } = found;
    await running?.printed();
    const streams: readonly OutputStream[] = record.tty === null ? ['stdout', 'stderr'] : ['terminal'];
    const stream = query.stream ?? streams[0] ?? 'stdout';
    if (!streams.includes(stream)) {
      throw new BridgeError(
        'NO_TERMINAL',
        `The stream ${stream} was asked for, and the process has ${record.tty === null ? 'no terminal' : 'a terminal, where stdout and stderr are one'}.`,
        `Ask for ${streams.join(' or ')}.`,
      );
    }
    const folder = this.#parts.store.folder(query.id);
    const reader = new OutputReader(folder, stream);
    const extents = Object.fromEntries(
      await Promise.all(
        streams.map(async (one) => [one, await new OutputReader(folder, one).extent()] as const),
      ),
    );
    const about = { record, stream, extents };
    if (query.screen) return { ...about, screen: await screenOf(found) };
    if (query.search !== undefined) {
      const holds = textFinder(query.search, query.isRegex);
      const from = query.cursor ?? 0;
      const search = await searchOutput(reader, holds, { from, clock: this.#parts.clock, signal });
      return { ...about, search };
    }
    const hasEnded = record.status === 'terminated';
    const text =
      query.cursor === undefined
        ? await lastLines(reader, query.lines, query.maxBytes, hasEnded)
        : await textFrom(reader, query.cursor, query.maxBytes, hasEnded);
    return { ...about, text };
  }

  /** Those that run, and the `recent` that ended last. */
  async list(recent: number): Promise<ListedProcess[]> {
    const all = await this.#parts.manager.list();
    const running = all.filter(({ record }) => record.status === 'running');
    const ended = all
      .filter(({ record }) => record.status === 'terminated')
      .sort((a, b) => ((a.record.ended_at ?? '') < (b.record.ended_at ?? '') ? 1 : -1));
    return Promise.all([...running, ...ended.slice(0, recent)].map((one) => this.#listed(one)));
  }

  /** Signals the whole tree. A signal that asks for the end is followed by harder ones until nothing is left. */
  async kill(id: string, name: NodeJS.Signals): Promise<KillOutcome> {
    const { record, running } = await this.#parts.manager.find(id);
    const isEnding = ENDING.has(name);
    if (running === undefined) {
      if (isEnding && record.keep && record.status === 'running') return this.#endStuck(record);
      const leftBehind = record.status === 'terminated' ? await this.#parts.manager.endLeftBehind(record) : 0;
      if (leftBehind === 0) throw unreached(record);
      return { record, left: 0, leftBehind };
    }
    if (!isEnding) {
      await running.signal(name);
      await withinMs(this.#parts.clock, AFTER_SIGNAL_MS, running.ended);
      return { record: running.record, left: 0, leftBehind: 0 };
    }
    try {
      const killed = await running.kill(name);
      return { record: running.record, ...killed, leftBehind: 0 };
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'PROCESS_UNREACHABLE') return this.#endStuck(record);
      throw error;
    }
  }

  async #endStuck(record: ProcessRecord): Promise<KillOutcome> {
    return { record: await this.#parts.manager.endStuck(record), left: 0, leftBehind: 0 };
  }

  async #folder({ mode, cwd }: SpawnArguments): Promise<string> {
    if (mode === 'docker') return cwd ?? WORK_DIRECTORY;
    return this.#parts.project.resolve(cwd, 'cwd');
  }

  async #running(id: string): Promise<RunningProcess> {
    const { record, running } = await this.#parts.manager.find(id);
    if (running === undefined) throw unreached(record);
    return running;
  }

  async #listed({ record, running }: FoundProcess): Promise<ListedProcess> {
    const [stats, printedBytes] = await Promise.all([
      // One that ends meanwhile, or does not answer, is listed without.
      running?.stats().catch(ignoreBridgeError),
      this.#printedBytes(record, running),
    ]);
    return { record, ...(stats !== undefined && { stats }), printedBytes };
  }

  async #printedBytes(record: ProcessRecord, running: RunningProcess | undefined): Promise<number> {
    await running?.printed();
    const streams: readonly OutputStream[] = record.tty === null ? ['stdout', 'stderr'] : ['terminal'];
    const folder = this.#parts.store.folder(record.process_id);
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
      const screen = record.screen ?? (await running.screen().catch(ignoreBridgeError))?.text ?? '';
      return { screen };
    }
    const bytes = await running.printed();
    const folder = this.#parts.store.folder(record.process_id);
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
    return { stdout, stderr };
  }
}

/** The error with a better hint where a whole command line was given as the name of a program. */
function withShellHint(error: unknown, { command }: SpawnArguments): unknown {
  const isLine = command.length === 1 && /\s/.test(command[0].trim());
  if (!(error instanceof BridgeError) || error.code !== 'PROGRAM_NOT_FOUND' || !isLine) return error;
  const hint = 'Give its arguments in args, one by one, or set shell to have a shell read the line.';
  return new BridgeError(error.code, error.message, hint, { cause: error });
}

async function screenOf({ record, running }: FoundProcess): Promise<ScreenText> {
  if (running !== undefined) return running.screen();
  if (record.tty === null || record.screen === null)
    throw new BridgeError(
      'NO_TERMINAL',
      'The screen of a process without a terminal was asked for.',
      'Read its output.',
    );
  return { text: record.screen, cursor: { column: 0, row: 0 }, size: record.tty };
}

function unreached({ process_id: id, status, keep }: ProcessRecord): BridgeError {
  if (status === 'terminated') return notRunning(id);
  if (keep) return processUnreachable(id, 'its keeper runs, and takes no connection');
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    `The process ${id} belongs to another server, which runs.`,
    'Its output can be read; only that server gives it input or ends it.',
  );
}
