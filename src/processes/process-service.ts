import { z } from 'zod';
import { sleep, withinMs, type Clock } from '../base/clock.js';
import { BridgeError, ignoreBridgeError, systemCodeOf } from '../base/errors.js';
import type { Once } from '../base/once.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { OutputStream } from '../pty/child.js';
import { OutputReader, type Extent } from '../store/pages.js';
import { WORK_DIRECTORY } from './docker/container-options.js';
import {
  type HoldsText,
  lastLines,
  type OutputSearch,
  type OutputText,
  searchOutput,
  shownText,
  textFinder,
  textFrom,
} from './output-text.js';
import {
  noTerminal,
  type OutputBytes,
  type ProcessInput,
  type ProcessMode,
  type ProcessStats,
  type RunningProcess,
  type SpawnRequest,
  totalOf,
} from './process-handle.js';
import { begunSpawnSchema, type FoundProcess, type ProcessManager } from './process-manager.js';
import type { ProcessRecord } from './process-record.js';

/** What one answer shows of the first output. */
const FIRST_OUTPUT_CHARS = 8_196;
/** Output that pauses for so long is taken for all that came of an input. */
const QUIET_MS = 200;
const LOOK_INTERVAL_MS = 100;
/** Why a call was aborted whose client is gone, by the MCP SDK; any other was cancelled. */
const LOST = 'CONNECTION_CLOSED';
/** A pattern is searched in the newest output; what is further back was searched before. */
const SEARCH_BYTES = 64 * 1024;

/** What a process has shown, as an answer holds it. */
interface ShownOutput {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly screen?: string;
}

/** The arguments of `spawn`, before its folders are checked: `mountProject` is in the allowed roots, or relative to the active project. */
export interface SpawnArguments extends Omit<SpawnRequest, 'cwd'> {
  /** Host: a folder in the allowed roots, or relative to the active project, which it is without. */
  readonly cwd?: string | undefined;
  /** The same with the same id is started once, and is the answer each time. */
  readonly requestId?: string | undefined;
}

export interface InputOutcome extends ShownOutput {
  readonly record: ProcessRecord;
  /** Why the wait for what comes of it is over. */
  readonly outcome: 'quiet' | 'found' | 'limit' | 'ended' | 'cancelled';
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
  readonly screen?: string;
}

export interface ListedProcess {
  readonly record: ProcessRecord;
  readonly stats?: ProcessStats;
  readonly printedBytes: number;
}

export interface ProcessServiceParts {
  readonly manager: ProcessManager;
  readonly clock: Clock;
  readonly project: Pick<ActiveProject, 'resolve'>;
  readonly defaultMode?: ProcessMode;
  readonly once: Once;
}

/** What the tools do with processes. Its methods throw BridgeError. */
export class ProcessService {
  /** Of a call that names none. */
  readonly defaultMode: ProcessMode;
  /** See ProcessManager. */
  readonly kill: ProcessManager['kill'];
  readonly #parts: ProcessServiceParts;

  constructor(parts: ProcessServiceParts) {
    this.defaultMode = parts.defaultMode ?? 'host';
    this.kill = (id, name) => parts.manager.kill(id, name);
    this.#parts = parts;
  }

  /**
   * Starts it and waits for its end, at most `limitMs`; 0 does not wait. A process that still runs then is in the background. A cancelled
   * call ends it. Throws what AllowedRoots throws for the folder, and as `Once` with a request id.
   */
  async spawn({ requestId, ...args }: SpawnArguments, limitMs: number, signal: AbortSignal) {
    const { manager, once } = this.#parts;
    const shapes = { outcome: z.string(), note: begunSpawnSchema };
    const pid = await once(requestId, { tool: 'spawn', ...args, limitMs }, shapes, async (note, begun) => {
      if (begun !== undefined && (await manager.isBegun(begun))) return begun.pid;
      return (await this.#start(args, note)).record.process_id;
    });
    const found = await this.#ended(pid, limitMs, signal);
    const { running } = found;
    // The caller does not know its pid, so it could not be ended later; one that is lost comes back with its request id.
    const isLost = requestId !== undefined && systemCodeOf(signal.reason) === LOST;
    if (signal.aborted && !isLost) await running?.kill('SIGTERM').catch(ignoreBridgeError);
    const record = running?.record ?? found.record;
    const isBackground = record.status === 'running';
    const shown = limitMs > 0 || !isBackground;
    return { record, isBackground, ...(shown && (await this.#shown({ record, running }, {}))) };
  }

  async #start(args: SpawnArguments, note: Parameters<ProcessManager['spawn']>[1]): Promise<RunningProcess> {
    const { manager, project } = this.#parts;
    const { mode, cwd, mountProject } = args;
    const mounted = mountProject && { mountProject: await project.resolve(mountProject, 'mount_project') };
    const folder = mode === 'docker' ? (cwd ?? WORK_DIRECTORY) : await project.resolve(cwd, 'cwd');
    return manager.spawn({ ...args, ...mounted, cwd: folder }, note).catch((error: unknown) => {
      throw withShellHint(error, args);
    });
  }

  /** The process when it has ended, the time is over, or the call is cancelled. One of another server is followed by its record. */
  async #ended(pid: string, limitMs: number, signal: AbortSignal): Promise<FoundProcess> {
    const { manager, clock } = this.#parts;
    const untilMs = clock.monotonicMs() + limitMs;
    const cancelled = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    for (;;) {
      const found = await manager.find(pid);
      const leftMs = untilMs - clock.monotonicMs();
      if (found.record.status === 'terminated' || leftMs <= 0 || signal.aborted) return found;
      const end = found.running?.ended ?? sleep(clock, LOOK_INTERVAL_MS, signal);
      await withinMs(clock, leftMs, Promise.race([end, cancelled]));
    }
  }

  /** Gives input and waits for what comes of it: a pause behind it, or a text in it. Throws when its keeper does not answer any more. */
  async input(
    query: ProcessInput & {
      readonly id: string;
      readonly waitFor?: string | undefined;
      readonly limitMs: number;
    },
    signal: AbortSignal,
  ): Promise<InputOutcome> {
    const { id, waitFor, limitMs } = query;
    const running = await this.#parts.manager.reach(id);
    const holds = waitFor === undefined ? undefined : textFinder(waitFor, true);
    const before = await this.#ends(running.record);
    await running.give(query);
    const outcome = await this.#wait(running, before, holds, limitMs, signal);
    const { record } = running;
    return { record, outcome, ...(await this.#shown({ record, running }, before)) };
  }

  /** A part of its output, or what its terminal shows. */
  async output(query: OutputQuery, signal: AbortSignal): Promise<OutputOutcome> {
    const { record, running } = await this.#parts.manager.find(query.id);
    const streams = streamsOf(record);
    const stream = query.stream ?? streams[0] ?? 'stdout';
    if (!streams.includes(stream)) {
      throw new BridgeError(
        'NO_TERMINAL',
        `The stream ${stream} was asked for, and the process has ${record.tty === null ? 'no terminal' : 'a terminal, where stdout and stderr are one'}.`,
        `Ask for ${streams.join(' or ')}.`,
      );
    }
    const about = { record, stream, extents: Object.fromEntries(await this.#extents(record)) };
    if (query.screen) {
      const screen = record.screen ?? (await running?.screen())?.text;
      if (screen === undefined) throw noTerminal('Its screen was asked for');
      return { ...about, screen };
    }
    const { cursor, lines, maxBytes, search, isRegex } = query;
    const reader = this.#reader(record, stream);
    if (search !== undefined) {
      const where = { from: cursor ?? 0, clock: this.#parts.clock, signal };
      return { ...about, search: await searchOutput(reader, textFinder(search, isRegex), where) };
    }
    const hasEnded = record.status === 'terminated';
    const text =
      cursor === undefined
        ? await lastLines(reader, lines, maxBytes, hasEnded)
        : await textFrom(reader, cursor, maxBytes, hasEnded);
    return { ...about, text };
  }

  /** Those that run, and the `recent` that ended last. */
  async list(recent: number): Promise<ListedProcess[]> {
    const all = await this.#parts.manager.list();
    const runningCount = all.filter(({ record }) => record.status === 'running').length;
    return Promise.all(all.slice(0, runningCount + recent).map((one) => this.#listed(one)));
  }

  async #wait(
    running: RunningProcess,
    before: OutputBytes,
    holds: HoldsText | undefined,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<InputOutcome['outcome']> {
    const { clock } = this.#parts;
    const untilMs = clock.monotonicMs() + limitMs;
    let seen = totalOf(before);
    let hasPrinted = false;
    while (!signal.aborted) {
      const leftMs = untilMs - clock.monotonicMs();
      const isPausing = hasPrinted && holds === undefined;
      const waiting = running.printed(seen, Math.max(0, isPausing ? Math.min(QUIET_MS, leftMs) : leftMs));
      const printed = await waiting.catch(() => undefined);
      const isNew = printed !== undefined && totalOf(printed) > seen;
      if (isNew) seen = totalOf(printed);
      hasPrinted ||= isNew;
      // If its keeper went, what was printed before may still hold the text.
      const isHeld = holds !== undefined && (isNew || printed === undefined);
      if (isHeld && (await this.#holdsNew(running, before, holds))) return 'found';
      if (running.record.status === 'terminated') return 'ended';
      await waiting;
      if (!isNew && isPausing) return 'quiet';
      if (clock.monotonicMs() >= untilMs) return 'limit';
    }
    return 'cancelled';
  }

  async #holdsNew({ record }: RunningProcess, before: OutputBytes, holds: HoldsText): Promise<boolean> {
    for (const [stream, { end }] of await this.#extents(record)) {
      const from = Math.max(before[stream] ?? 0, end - SEARCH_BYTES);
      if (end > from && holds((await textFrom(this.#reader(record, stream), from, SEARCH_BYTES, true)).text))
        return true;
    }
    return false;
  }

  #reader({ process_id: id }: ProcessRecord, stream: OutputStream): OutputReader {
    return new OutputReader(this.#parts.manager.folder(id), stream);
  }

  #extents(record: ProcessRecord): Promise<(readonly [OutputStream, Extent])[]> {
    const extents = streamsOf(record).map(
      async (stream) => [stream, await this.#reader(record, stream).extent()] as const,
    );
    return Promise.all(extents);
  }

  async #ends(record: ProcessRecord): Promise<OutputBytes> {
    return Object.fromEntries((await this.#extents(record)).map(([stream, { end }]) => [stream, end]));
  }

  async #listed({ record, running }: FoundProcess): Promise<ListedProcess> {
    // One that ends meanwhile, or does not answer, is listed without.
    const stats = await running?.stats().catch(ignoreBridgeError);
    const printedBytes = (await this.#extents(record)).reduce((sum, [, { end }]) => sum + end, 0);
    return { record, ...(stats !== undefined && { stats }), printedBytes };
  }

  /** What was printed since; of a terminal what it shows. */
  async #shown({ record, running }: FoundProcess, since: OutputBytes): Promise<ShownOutput> {
    if (record.tty !== null)
      return { screen: record.screen ?? (await running?.screen().catch(ignoreBridgeError))?.text ?? '' };
    const { stdout = 0, stderr = 0 } = await this.#ends(record);
    // Each has half, and what the other leaves of its own.
    const shown = (stream: 'stdout' | 'stderr', others: number) => {
      const room = Math.max(FIRST_OUTPUT_CHARS / 2, FIRST_OUTPUT_CHARS - others);
      return shownText(this.#reader(record, stream), since[stream] ?? 0, room);
    };
    return {
      stdout: await shown('stdout', stderr - (since.stderr ?? 0)),
      stderr: await shown('stderr', stdout - (since.stdout ?? 0)),
    };
  }
}

function streamsOf({ tty }: ProcessRecord): readonly OutputStream[] {
  return tty === null ? ['stdout', 'stderr'] : ['terminal'];
}

/** The error with a better hint where a whole command line was given as the name of a program. */
function withShellHint(error: unknown, { command }: SpawnArguments): unknown {
  const isLine = command.length === 1 && /\s/.test(command[0].trim());
  if (!(error instanceof BridgeError) || error.code !== 'PROGRAM_NOT_FOUND' || !isLine) return error;
  const hint = 'Give its arguments in args, one by one, or set shell to have a shell read the line.';
  return new BridgeError(error.code, error.message, hint, { cause: error });
}
