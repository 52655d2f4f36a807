import { withinMs } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { ignoreBridgeError } from '../../base/ignore-bridge-error.js';
import type { TerminalSize } from '../../pty/child.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import { endInput, notRunning, requirePipes, requireTerminal, writeInput } from '../child-input.js';
import type { ProcessExit, ProcessHandle, ProcessStats } from '../process-handle.js';
import type { Container } from './container.js';
import type { ContainerChild } from './container-child.js';
import { signalAll, signalProgram } from './container-signals.js';
import { statsOfContainer } from './container-stats.js';
import type { DockerSpec } from './docker-spec.js';
import { refusalOf } from './engine/docker-engine.js';

/** After SIGKILL only the kernel or the engine can hold things up. */
const AFTER_KILL_MS = 10_000;
/** Refusals of a signal that hold for the program alone, too. */
const FINAL_REFUSALS: ReadonlySet<string> = new Set(['PROCESS_NOT_RUNNING', 'INVALID_ARGUMENTS']);

export interface DockerProcessOptions {
  readonly spec: DockerSpec;
  readonly container: Container;
  readonly child: ContainerChild;
  readonly killGraceMs?: number | undefined;
  /** Removes the container; called once, behind the end. */
  readonly remove: () => Promise<void>;
}

/** A process in a container of its own. When its first process ends, the kernel ends all others of the container. */
export class DockerProcess implements ProcessHandle {
  readonly spec: DockerSpec;
  readonly exited: Promise<ProcessExit>;
  /** Ends when the container is gone, too, or left for the next sweep. */
  readonly removed: Promise<void>;
  readonly container: Container;
  readonly #child: ContainerChild;
  readonly #killGraceMs: number;
  #end: ProcessExit | undefined;

  /** For a container that was started. */
  constructor({ spec, container, child, killGraceMs = KILL_GRACE_MS, remove }: DockerProcessOptions) {
    const { clock } = container;
    this.spec = spec;
    this.container = container;
    this.#child = child;
    this.#killGraceMs = killGraceMs;
    this.exited = child.exited.then(
      (status) => (this.#end = { outOfMemory: false, ...status, endedAt: new Date(clock.now()) }),
    );
    this.removed = this.exited.then(remove);
  }

  get status(): 'running' | 'terminated' {
    return this.#end === undefined ? 'running' : 'terminated';
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#mustRun();
    await writeInput(this.#child, bytes, this.container.clock);
  }

  async endInput(): Promise<void> {
    requirePipes(this.spec);
    this.#mustRun();
    endInput(this.#child);
  }

  async resize(size: TerminalSize): Promise<void> {
    requireTerminal(this.spec);
    this.#mustRun();
    const answer = await this.container.resize(size);
    if (answer.kind !== 'value') throw refusalOf(answer, 'to resize a terminal');
  }

  async signal(name: NodeJS.Signals, options: { readonly tree?: boolean } = {}): Promise<void> {
    this.#mustRun();
    if (name === 'SIGKILL') this.#child.isKilledByUs = true;
    await (options.tree === true ? signalAll : signalProgram)(this.container, name);
  }

  async kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }> {
    this.#mustRun();
    const { clock } = this.container;
    for (const name of new Set<NodeJS.Signals>([first, 'SIGTERM'])) {
      if (name === 'SIGKILL') break;
      // A signal that cannot be sent is followed by a harder one.
      await this.#toTree(name).catch(unlessUnknown);
      const exit = await withinMs(clock, this.#killGraceMs, this.exited);
      if (exit !== undefined) return { exit, left: 0 };
    }
    await this.signal('SIGKILL').catch(ignoreBridgeError);
    const exit = await withinMs(clock, AFTER_KILL_MS, this.exited);
    if (exit !== undefined) return { exit, left: 0 };
    const reason = 'It did not end, or its engine does not answer.';
    return { exit: { outOfMemory: false, reason, endedAt: new Date(clock.now()) }, left: 1 };
  }

  async stats(): Promise<ProcessStats> {
    this.#mustRun();
    const stats = await statsOfContainer(this.container, { hasOwnPorts: this.spec.network !== 'host' });
    this.#mustRun();
    return stats;
  }

  async dispose(): Promise<void> {
    this.#child.dispose();
    await this.removed;
  }

  #mustRun(): void {
    if (this.#end !== undefined) throw notRunning(this.spec.id);
  }

  /** To the program alone, where the image has no shell to signal the others. */
  async #toTree(name: NodeJS.Signals): Promise<void> {
    try {
      await signalAll(this.container, name);
    } catch (error) {
      if (!(error instanceof BridgeError) || FINAL_REFUSALS.has(error.code)) throw error;
      await signalProgram(this.container, name);
    }
  }
}

/** Other refusals of a signal are ignored. Throws for a signal that does not exist. */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof BridgeError) || error.code === 'INVALID_ARGUMENTS') throw error;
}
