import type { Duplex } from 'node:stream';
import { sleep, withinMs, type Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { ignoreBridgeError } from '../../base/ignore-bridge-error.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import type { TerminalSize } from '../../pty/child.js';
import type { ExitStatus } from '../../pty/exit-status.js';
import { endInput, notRunning, requirePipes, requireTerminal, writeInput } from '../child-input.js';
import type { ProcessExit, ProcessHandle, ProcessStats } from '../process-handle.js';
import type { AttachedOutput } from './attached-output.js';
import { containerStateSchema, endOfState, type ContainerState } from './container-end.js';
import { ContainerChild } from './container-child.js';
import { ContainerSignals } from './container-signals.js';
import { statsOfContainer } from './container-stats.js';
import { refusalOf, type DockerEngine, type EngineAnswer } from './engine/docker-engine.js';
import type { DockerSpec } from './docker-spec.js';
import { waitForContainer } from './engine/wait-for-container.js';

/** The kernel's word on memory may come to the engine a moment after the end. */
const MEMORY_WORD_MS = 300;
/** An engine that is restarted is back within seconds; longer the end of its processes is not waited for. */
const LOST_TRIES = 5;
const LOST_PAUSE_MS = 1_000;
const LOST_CALL_MS = 5_000;
/** After SIGKILL only the kernel or the engine can hold things up. */
const AFTER_KILL_MS = 10_000;
const NO_SUCH_STATUS = 404;
/** What init answers for a program that it could not start. */
const INIT_EXIT_CODES: readonly number[] = [126, 127];
/** Refusals of a signal that hold for the program alone, too. */
const FINAL_REFUSALS: ReadonlySet<string> = new Set(['PROCESS_NOT_RUNNING', 'INVALID_ARGUMENTS']);

export interface DockerProcessOptions {
  readonly spec: DockerSpec;
  readonly containerId: string;
  readonly engine: DockerEngine;
  readonly clock: Clock;
  readonly attached: Duplex;
  readonly output: AttachedOutput;
  readonly killGraceMs?: number;
  /** Removes the container; called once, behind the end. */
  readonly remove: () => Promise<void>;
}

/** A process in a container of its own. When its first process ends, the kernel ends all others of the container. */
export class DockerProcess implements ProcessHandle {
  readonly mode = 'docker';
  readonly spec: DockerSpec;
  readonly createdAt: Date;
  readonly exited: Promise<ProcessExit>;
  /** Ends when the container is gone, too, or left for the next sweep. */
  readonly removed: Promise<void>;
  readonly #options: DockerProcessOptions;
  readonly #child: ContainerChild;
  readonly #signals: ContainerSignals;
  #end: ProcessExit | undefined;
  #initFault: string | undefined;
  #waiting = new AbortController();
  #isKilledByUs = false;

  /** For a container that was started. */
  constructor(options: DockerProcessOptions) {
    this.#options = options;
    this.spec = options.spec;
    this.createdAt = new Date(options.clock.now());
    this.#signals = new ContainerSignals(options.engine, options.containerId);
    this.#child = new ContainerChild({
      stream: options.attached,
      isTerminal: options.spec.tty !== undefined,
      exited: this.#follow(),
      resize: (size) => this.#resize(size),
      kill: () => void this.dispose(),
    });
    this.exited = this.#child.exited.then((status) => this.#ended(status));
    this.removed = this.exited.then(() => options.remove());
  }

  get status(): 'running' | 'terminated' {
    return this.#end === undefined ? 'running' : 'terminated';
  }

  get exit(): ProcessExit | undefined {
    return this.#end;
  }

  get containerId(): string {
    return this.#options.containerId;
  }

  /** Why the program could not be started, as init said it; known with the end. */
  get initFault(): string | undefined {
    return this.#initFault;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    await writeInput(this.#child, bytes, this.#options.clock);
  }

  async endInput(): Promise<void> {
    requirePipes(this.spec);
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    endInput(this.#child);
  }

  async resize(size: TerminalSize): Promise<void> {
    requireTerminal(this.spec);
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    await this.#child.resize(size);
  }

  async #resize({ columns, rows }: TerminalSize): Promise<void> {
    const answer = await this.#call((container, abortSignal) =>
      container.resize({ w: columns, h: rows, abortSignal }),
    );
    if (answer.kind !== 'value') throw refusalOf(answer, 'to resize a terminal');
  }

  async signal(name: NodeJS.Signals, options: { readonly tree?: boolean } = {}): Promise<void> {
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    this.#isKilledByUs ||= name === 'SIGKILL';
    await (options.tree === true ? this.#signals.toAll(name) : this.#signals.toProgram(name));
  }

  async kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }> {
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    const { clock, killGraceMs = KILL_GRACE_MS } = this.#options;
    for (const name of new Set<NodeJS.Signals>([first, 'SIGTERM'])) {
      if (name === 'SIGKILL') break;
      // A signal that cannot be sent is followed by a harder one.
      await this.#toTree(name).catch(unlessUnknown);
      const exit = await withinMs(clock, killGraceMs, this.exited);
      if (exit !== undefined) return { exit, left: 0 };
    }
    await this.signal('SIGKILL').catch(ignoreBridgeError);
    const exit = await withinMs(clock, AFTER_KILL_MS, this.exited);
    if (exit !== undefined) return { exit, left: 0 };
    // The engine took the signal without effect, or does not answer: that is reported as the end.
    this.recheck();
    return { exit: await this.exited, left: 1 };
  }

  async stats(): Promise<ProcessStats> {
    if (this.#end !== undefined) throw notRunning(this.spec.id);
    const { engine, containerId } = this.#options;
    const stats = await statsOfContainer(engine, containerId, { hasOwnPorts: this.spec.network !== 'host' });
    if (this.status === 'terminated') throw notRunning(this.spec.id);
    return stats;
  }

  /** Asks the engine for the state again: the answer that was waited for may never come. */
  recheck(): void {
    this.#waiting.abort();
  }

  /** `isKilled`: SIGKILL was sent already, and the engine need not be asked for it. */
  async dispose({ isKilled = false } = {}): Promise<void> {
    if (this.#end === undefined) {
      this.#isKilledByUs = true;
      if (!isKilled)
        await this.#signals.toAll('SIGKILL').catch((error: unknown) => {
          this.recheck();
          ignoreBridgeError(error);
        });
    }
    await this.removed;
  }

  /** To the program alone, where the image has no shell to signal the others. */
  async #toTree(name: NodeJS.Signals): Promise<void> {
    try {
      await this.#signals.toAll(name);
    } catch (error) {
      if (!(error instanceof BridgeError) || FINAL_REFUSALS.has(error.code)) throw error;
      await this.#signals.toProgram(name);
    }
  }

  async #follow(): Promise<ExitStatus> {
    const { output, clock } = this.#options;
    const end = await this.#waitForEnd();
    await output.rest(clock);
    const isInit = end.code !== undefined && INIT_EXIT_CODES.includes(end.code);
    if (isInit) this.#initFault = output.initFault;
    if (this.#initFault === undefined) await output.release();
    return end;
  }

  #ended(status: ExitStatus): ProcessExit {
    const exit: ProcessExit = {
      outOfMemory: false,
      ...status,
      endedAt: new Date(this.#options.clock.now()),
    };
    this.#end = exit;
    return exit;
  }

  /** The end as the engine reports it, or that the engine is gone for good. */
  async #waitForEnd(): Promise<ExitStatus> {
    for (;;) {
      this.#waiting = new AbortController();
      const { signal } = this.#waiting;
      const { engine, containerId } = this.#options;
      const waited = await engine.call(
        // The limit's own signal never comes; this one does when the state must be checked again.
        (client) => waitForContainer(client, containerId, signal),
        Number.POSITIVE_INFINITY,
      );
      const isCut = waited.kind !== 'value';
      const looked = await this.#look(isCut);
      if (looked !== 'running') return looked;
      if (!this.#options.output.isOver) continue;
      // Both ways to it are cut, and what it prints from now on would be missing: it is ended rather than half seen.
      if (isCut) return lost('The connection to the engine was cut');
    }
  }

  /** How the container is. After a cut the engine gets some seconds to come back. */
  async #look(isCut: boolean): Promise<'running' | ExitStatus> {
    let words = '';
    for (let tries = 0; tries < LOST_TRIES; tries++) {
      if (tries > 0) await sleep(this.#options.clock, LOST_PAUSE_MS);
      const answer = await this.#state();
      if (answer.kind === 'refused' && answer.status === NO_SUCH_STATUS)
        return lost('The container was removed by somebody else');
      if (answer.kind === 'value') {
        if (answer.value.Running) return 'running';
        const end = endOfState(await this.#withMemoryWord(answer.value));
        const note = 'The connection to the engine was cut before; what it printed since is missing.';
        return isCut && this.#options.output.isOver ? { ...end, reason: joined(end.reason, note) } : end;
      }
      words = answer.kind === 'unreachable' ? answer.fault.message : answer.words;
    }
    return lost(`The engine went away (${words})`);
  }

  #state(): Promise<EngineAnswer<ContainerState>> {
    return this.#call(async (container, abortSignal) => {
      const { State } = await container.inspect({ abortSignal });
      return containerStateSchema.parse(State);
    }, LOST_CALL_MS);
  }

  /** Looked at again when it was killed and not by us: the engine hears of memory by another way than of the end. */
  async #withMemoryWord(state: ContainerState): Promise<ContainerState> {
    if (this.#isKilledByUs || state.OOMKilled || endOfState(state).signal !== 'SIGKILL') return state;
    await sleep(this.#options.clock, MEMORY_WORD_MS);
    const again = await this.#state();
    return again.kind === 'value' ? again.value : state;
  }

  #call<T>(
    ask: (container: ReturnType<Client['getContainer']>, signal: AbortSignal) => Promise<T>,
    limitMs?: number,
  ): Promise<EngineAnswer<T>> {
    const { engine, containerId } = this.#options;
    return engine.call((client, signal) => ask(client.getContainer(containerId), signal), limitMs);
  }
}

type Client = Parameters<Parameters<DockerEngine['call']>[0]>[0];

/** Other refusals of a signal are ignored. Throws for a signal that does not exist. */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof BridgeError) || error.code === 'INVALID_ARGUMENTS') throw error;
}

function lost(why: string): ExitStatus {
  const rest = 'How the process ended is not known; its container is removed as soon as the engine answers.';
  return { reason: `${why}. ${rest}` };
}

function joined(first: string | undefined, second: string): string {
  return first === undefined ? second : `${first} ${second}`;
}
