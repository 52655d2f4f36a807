import { type Clock, withinMs } from '../../base/clock.js';
import { ignoreBridgeError } from '../../base/errors.js';
import type { Family } from '../../os/choose-processes.js';
import type { ProcessInfo } from '../../os/process-info.js';
import { signalChildGroup } from '../../os/send-signals.js';
import type { Child, OutputSink, OutputStream } from '../../pty/child.js';
import type { ExitStatus } from '../../pty/exit-status.js';
import { killTree } from '../../pty/kill-ladder.js';
import { ChildHandle, notRunning, signalNamed } from '../child-handle.js';
import type { ProcessExit, ProcessSpec, ProcessStats } from '../process-handle.js';
import type { ProcessFamilies } from './process-family.js';
import { statsOf } from './process-stats.js';

/** The output of a program is read within milliseconds of its end. If nothing more comes and its pipes are open, another process holds them. */
const QUIET_AFTER_END_MS = 250;
/** A process that holds the pipes and prints on does not delay the end for longer. */
const OPEN_AFTER_END_MS = 2_000;

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

/** After the ladder nothing is left that could print: the end follows at once, or something holds a pipe for ever. */
const END_AFTER_KILL_MS = 5_000;

export interface HostProcessOptions {
  readonly spec: ProcessSpec;
  readonly child: Child;
  /** The end of the child, as it is reported. */
  readonly ended: Promise<ExitStatus>;
  readonly mark: string;
  readonly families: ProcessFamilies;
  readonly clock: Clock;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs: number;
  /** See Family. */
  readonly startedSince?: string | undefined;
}

/** A process of this machine, behind pipes or in a terminal. */
export class HostProcess extends ChildHandle {
  readonly #options: HostProcessOptions;

  constructor(options: HostProcessOptions) {
    super(options.spec, options.child, options.clock, options.ended);
    this.#options = options;
  }

  get family(): Family {
    return { pid: this.#options.child.pid, mark: this.#options.mark };
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    signalNamed(name);
    const { child, families } = this.#options;
    // Without the bridge's own shell around the program: if it were signalled, it could not report how the program ended.
    const isMeant = ({ pid }: ProcessInfo): boolean => !(child.isWrapped && pid === child.pid);
    if (!(await families.signal(this.family, name, isMeant))) throw notRunning(this.spec.id);
  }

  async kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }> {
    signalNamed(first);
    const { child, families, mark, startedSince, clock, killGraceMs } = this.#options;
    // What it left behind when it ended is ended, too.
    if (this.status === 'terminated' && (await families.members(this.family)).length === 0)
      throw notRunning(this.spec.id);
    const isOwnStep = first !== 'SIGTERM' && first !== 'SIGKILL';
    const { remaining } = await killTree({
      pid: child.pid,
      isWrapped: child.isWrapped,
      mark,
      startedSince,
      clock,
      graceMs: first === 'SIGKILL' ? 0 : killGraceMs,
      ...(isOwnStep && {
        interrupt: async () => {
          await this.signal(first).catch(ignoreBridgeError);
          await this.exited;
        },
      }),
    });
    return { exit: await this.endWithin(END_AFTER_KILL_MS, 'It did not end.'), left: remaining.length };
  }

  async stats(): Promise<ProcessStats> {
    const { child, families } = this.#options;
    const members = await families.members(this.family, false);
    const own = members.filter((one) => !(child.isWrapped && one.pid === child.pid));
    if (own.length === 0) throw notRunning(this.spec.id);
    return statsOf(own, child);
  }

  /** SIGTERM to the process group; what left the group is not reached. */
  askToEnd(): void {
    const { child } = this.#options;
    if (child.isReaped) return;
    signalChildGroup(child, 'SIGTERM');
    // A stopped process takes no SIGTERM before it goes on.
    signalChildGroup(child, 'SIGCONT');
  }

  /** Kills the process group, and lets go of pipes or terminal. */
  close(): void {
    this.#options.child.dispose();
  }

  async dispose(): Promise<void> {
    this.close();
    await this.#options.families.killAll(new Set([this.#options.mark]));
  }
}
