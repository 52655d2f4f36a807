import { type Clock, withinMs } from '../../base/clock.js';
import { ignoreBridgeError } from '../../base/errors.js';
import { type Family, selectDescendants, selectMarked } from '../../os/choose-processes.js';
import { findDescendants } from '../../os/find-processes.js';
import type { MarkedProcess, ProcessInfo } from '../../os/process-info.js';
import { thisMachine, type ProcessSystem } from '../../os/process-system.js';
import { signalChildGroup, signalProcesses } from '../../os/send-signals.js';
import type { Child, OutputSink, OutputStream } from '../../pty/child.js';
import type { ExitStatus } from '../../pty/exit-status.js';
import { killTree } from '../../pty/kill-ladder.js';
import { notRunning, ProcessHandle, type ProcessSpec, type ProcessStats } from '../process-handle.js';
import { statsOf } from './process-stats.js';

/** The output of a program is read within milliseconds of its end. If nothing more comes and its pipes are open, another process holds them. */
const QUIET_AFTER_END_MS = 250;
/** A process that holds the pipes and prints on does not delay the end for longer. */
const OPEN_AFTER_END_MS = 2_000;
/** After the ladder nothing is left that could print: the end follows at once, or something holds a pipe for ever. */
const END_AFTER_KILL_MS = 5_000;

const HELD_OPEN =
  'A process that it left behind still holds its output open; what that prints is stored, too.';

/** A sink that knows whether output still comes. */
export class WatchedSink implements OutputSink {
  readonly #sink: OutputSink;
  #bytes = 0;
  #waits = 0;

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined {
    this.#bytes += bytes.length;
    const wait = this.#sink.write(stream, bytes);
    if (wait === undefined) return undefined;
    this.#waits++;
    return wait.finally(() => this.#waits--);
  }

  /** The end of the child, when its output is complete, or when a process that it left behind holds that open. */
  async endOf(child: Child, clock: Clock): Promise<ExitStatus> {
    const status = await child.exited;
    const untilMs = clock.monotonicMs() + OPEN_AFTER_END_MS;
    const closed = child.closed.then(() => true);
    for (;;) {
      const seenBytes = this.#bytes;
      if ((await withinMs(clock, QUIET_AFTER_END_MS, closed)) === true) return status;
      const isOver = this.#bytes === seenBytes || clock.monotonicMs() >= untilMs;
      if (this.#waits === 0 && isOver) return { ...status, reason: HELD_OPEN };
    }
  }
}

/** Signals the living members of a family that `isMeant` names; true when one of them got it. */
export async function signalFamily(
  family: Family,
  name: NodeJS.Signals,
  isMeant: (one: ProcessInfo) => boolean,
  system: ProcessSystem = thisMachine,
): Promise<boolean> {
  const meant = (await findDescendants(family, system)).filter(isMeant);
  return (await signalProcesses(meant, [name], system)).includes('sent');
}

/** Kills every process that carries one of the marks: those that left their group, too. `startedSince` as in Family. */
export async function killMarked(
  marks: ReadonlySet<string>,
  startedSince: string | undefined,
  system: ProcessSystem = thisMachine,
): Promise<void> {
  const all = await system.source.markedTable(startedSince);
  await signalProcesses(selectMarked(all, marks, system.self, startedSince), ['SIGKILL'], system);
}

export interface HostProcessParts {
  readonly child: Child;
  readonly sink: WatchedSink;
  /** In the environment of all that comes of it. */
  readonly mark: string;
  /** See Family. */
  readonly startedSince: string | undefined;
  /** All processes with their marks; for calls at the same time the same. */
  readonly table: () => Promise<readonly MarkedProcess[]>;
  readonly clock: Clock;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
}

/** A process of this machine, behind pipes or in a terminal. */
export class HostProcess extends ProcessHandle {
  readonly #parts: HostProcessParts;
  readonly #family: Family;

  constructor(spec: ProcessSpec, parts: HostProcessParts) {
    const { child, sink, clock, mark, startedSince } = parts;
    super(spec, child, clock, sink.endOf(child, clock));
    this.#parts = parts;
    this.#family = { pid: child.pid, mark, startedSince };
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    // Without the bridge's own shell around the program: if it were signalled, it could not report how the program ended.
    if (!(await signalFamily(this.#family, name, (one) => !this.#isWrapper(one))))
      throw notRunning(this.spec.id);
  }

  async kill(first: NodeJS.Signals): Promise<number> {
    const { child, clock, killGraceMs } = this.#parts;
    // What it left behind when it ended is ended, too.
    if (this.status === 'terminated' && (await findDescendants(this.#family)).length === 0)
      throw notRunning(this.spec.id);
    const interrupt = async () => {
      await this.signal(first).catch(ignoreBridgeError);
      await this.exited;
    };
    const { remaining } = await killTree({
      ...this.#family,
      isWrapped: child.isWrapped,
      clock,
      graceMs: first === 'SIGKILL' ? 0 : killGraceMs,
      ...(first !== 'SIGTERM' && first !== 'SIGKILL' && { interrupt }),
    });
    await withinMs(clock, END_AFTER_KILL_MS, this.exited);
    return remaining.length;
  }

  async stats(): Promise<ProcessStats> {
    const members = selectDescendants(await this.#parts.table(), this.#family, thisMachine.self);
    const own = members.filter((one) => !this.#isWrapper(one));
    if (own.length === 0) throw notRunning(this.spec.id);
    return statsOf(own.map(({ pid }) => pid));
  }

  /** SIGTERM to the process group; what left the group is not reached. */
  askToEnd(): void {
    const { child } = this.#parts;
    if (child.isReaped) return;
    signalChildGroup(child, 'SIGTERM');
    // A stopped process takes no SIGTERM before it goes on.
    signalChildGroup(child, 'SIGCONT');
  }

  /** Kills the process group, and lets go of pipes or terminal. */
  close(): void {
    this.#parts.child.dispose();
  }

  async dispose(): Promise<void> {
    this.close();
    await killMarked(new Set([this.#parts.mark]), this.#parts.startedSince);
  }

  #isWrapper({ pid }: ProcessInfo): boolean {
    const { child } = this.#parts;
    return child.isWrapped && pid === child.pid;
  }
}
