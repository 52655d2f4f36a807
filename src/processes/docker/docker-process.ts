import { withinMs } from '../../base/clock.js';
import { BridgeError, ignoreBridgeError } from '../../base/errors.js';
import type { TerminalSize } from '../../pty/child.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import { ChildHandle } from '../child-handle.js';
import type { ProcessExit, ProcessStats } from '../process-handle.js';
import type { Container } from './container.js';
import type { ContainerChild } from './container-child.js';
import { signalAll, statsOfContainer } from './container-programs.js';
import type { DockerSpec } from './container-options.js';
import { refusalOf } from './engine/docker-engine.js';

/** After SIGKILL only the kernel or the engine can hold things up. */
const AFTER_KILL_MS = 10_000;
export interface DockerProcessOptions {
  readonly spec: DockerSpec;
  readonly container: Container;
  readonly child: ContainerChild;
  readonly killGraceMs?: number | undefined;
  /** Removes the container; called once, behind the end. */
  readonly remove: () => Promise<void>;
}

/** A process in a container of its own. When its first process ends, the kernel ends all others of the container. */
export class DockerProcess extends ChildHandle<DockerSpec> {
  /** Ends when the container is gone, too, or left for the next sweep. */
  readonly removed: Promise<void>;
  readonly #options: DockerProcessOptions;

  /** For a container that was started. */
  constructor(options: DockerProcessOptions) {
    const { spec, child, container, remove } = options;
    super(spec, child, container.clock, child.exited);
    this.#options = options;
    this.removed = this.exited.then(remove);
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    this.mustRun();
    const { child, container } = this.#options;
    if (name === 'SIGKILL') child.isKilledByUs = true;
    await signalAll(container, name);
  }

  async kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }> {
    this.mustRun();
    const { killGraceMs = KILL_GRACE_MS } = this.#options;
    for (const name of new Set<NodeJS.Signals>([first, 'SIGTERM'])) {
      if (name === 'SIGKILL') break;
      // A signal that cannot be sent is followed by a harder one.
      await this.signal(name).catch(unlessUnknown);
      const exit = await withinMs(this.clock, killGraceMs, this.exited);
      if (exit !== undefined) return { exit, left: 0 };
    }
    await this.signal('SIGKILL').catch(ignoreBridgeError);
    const exit = await this.endWithin(AFTER_KILL_MS, 'It did not end, or its engine does not answer.');
    return { exit, left: this.status === 'running' ? 1 : 0 };
  }

  async stats(): Promise<ProcessStats> {
    this.mustRun();
    const hasOwnPorts = this.spec.network !== 'host';
    const stats = await statsOfContainer(this.#options.container, { hasOwnPorts });
    this.mustRun();
    return stats;
  }

  async dispose(): Promise<void> {
    this.#options.child.dispose();
    await this.removed;
  }

  protected override async setSize(size: TerminalSize): Promise<void> {
    const answer = await this.#options.container.resize(size);
    if (answer.kind !== 'value') throw refusalOf(answer, 'to resize a terminal');
  }
}

/** Other refusals of a signal are ignored. Throws for a signal that does not exist. */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof BridgeError) || error.code === 'INVALID_ARGUMENTS') throw error;
}
