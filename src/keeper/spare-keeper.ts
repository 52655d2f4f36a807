import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { isHalted } from '../os/is-halted.js';
import { pidOf } from '../os/pid.js';
import type { TaskAssignment } from './messages.js';
import { spawnKeeper, type KeeperProgram } from './spawn-keeper.js';

/** Stands in a spare's arguments where a task's id will stand: as long as one, since a title is no longer than the arguments were. */
export const NO_TASK_YET = 'waits-for-a-task'.padEnd('task_'.length + 20, '-');

/** Whoever was answered that a task runs reads that first. */
const PREPARE_DELAY_MS = 20;
/** Who has started no task for so long does without the 45 MB that a spare one takes. */
const SPARE_LIFE_MS = 5 * 60_000;

/**
 * A keeper that is started ahead and waits for its task: a start then costs no start of Node. There is none before the first
 * task, one at a time after it, and none when no task was started for five minutes. It ends with this process, whatever
 * becomes of that: its stdin ends.
 */
export class SpareKeeper implements Disposable {
  readonly #program: KeeperProgram;
  readonly #clock: Clock;
  #waiting: ChildProcess | undefined;
  #timer: Disposable | undefined;
  #disposed = false;

  constructor(program: KeeperProgram, clock: Clock) {
    this.#program = program;
    this.#clock = clock;
  }

  /** The number of the one that waits, for who looks at the machine. */
  get pid(): number | undefined {
    return this.#waiting?.pid;
  }

  /** Has one wait from soon on; one that waits already waits longer. */
  prepare(): void {
    if (this.#disposed) return;
    this.#timer?.dispose();
    this.#timer = this.#clock.after(PREPARE_DELAY_MS, () => {
      this.#timer = this.#clock.after(SPARE_LIFE_MS, () => this.#end());
      this.#waiting ??= this.#start();
    });
  }

  /** The one that waits, from now on the keeper of this task; undefined when none waits that could begin. */
  async take(assignment: TaskAssignment): Promise<ChildProcess | undefined> {
    const spare = this.#waiting;
    if (spare === undefined) return undefined;
    // Only one call gets it.
    this.#forget(spare);
    const pid = pidOf(spare.pid);
    // One that is halted may never go on: a new one is there sooner. If the system does not say, a new one is, too.
    if (pid === undefined || (await isHalted(pid).catch(() => true))) {
      spare.kill('SIGKILL');
      return undefined;
    }
    spare.ref();
    spare.stdin?.end(JSON.stringify(assignment));
    return spare;
  }

  dispose(): void {
    this.#disposed = true;
    this.#timer?.dispose();
    this.#end();
  }

  #start(): ChildProcess {
    const spare = spawnKeeper(this.#program, NO_TASK_YET);
    const gone = (): void => this.#forget(spare);
    spare.on('error', gone);
    spare.on('exit', gone);
    spare.stdio[3]?.on('close', gone);
    // Who takes one that ends in this moment is told by its silence.
    spare.stdin?.on('error', gone);
    // Neither it nor its pipes keep this process from ending.
    spare.unref();
    return spare;
  }

  #forget(spare: ChildProcess): void {
    if (this.#waiting === spare) this.#waiting = undefined;
  }

  #end(): void {
    this.#waiting?.kill('SIGKILL');
    this.#waiting = undefined;
  }
}
