import type { Duplex } from 'node:stream';
import type Dockerode from 'dockerode';
import { sleep } from '../../base/clock.js';
import { messageOf, ignoreBridgeError } from '../../base/errors.js';
import {
  type Child,
  type OutputSink,
  type TerminalSize,
  type WriteResult,
  writeToStream,
} from '../../pty/child.js';
import { exitStatusFromShell, type ExitStatus } from '../../pty/exit-status.js';
import { AttachedOutput } from './attached-output.js';
import { asDuplex, type Container, type ContainerState, isEnded, NOT_THERE } from './container.js';
import { refusalStatus } from './engine.js';

/** Starting a container on a machine that is busy with twenty of them. */
const START_LIMIT_MS = 60_000;
/** The kernel's word on memory may come to the engine a moment after the end. */
const MEMORY_WORD_MS = 300;

export interface ContainerStart {
  readonly sink: OutputSink;
  /** Of its terminal; without one it is on pipes. */
  readonly size?: TerminalSize | undefined;
  /** For a person, when the kernel ended it because it used more memory than it may. */
  readonly memoryWords: string;
}

/** The first process of a container. It ends with its container, so nothing holds its output open for longer. */
export class ContainerChild implements Child {
  /** This machine cannot signal it. */
  readonly pid = undefined;
  readonly isReaped = false;
  readonly isWrapped = false;
  /** The end as the engine reports it, or that the engine is gone for good; when all output is in the sink. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  readonly closed: Promise<void>;
  readonly #container: Container;
  readonly #stream: Duplex;
  readonly #options: ContainerStart;
  #hasEnded = false;
  /** SIGKILL was sent from here: its end needs no other reason. */
  isKilledByUs = false;

  private constructor(container: Container, stream: Duplex, options: ContainerStart) {
    this.#container = container;
    this.#stream = stream;
    this.#options = options;
    const output = new AttachedOutput(stream, options.sink, options.size !== undefined);
    this.exited = this.#end().then(async (status) => {
      await output.rest(container.engine.clock);
      return status;
    });
    this.closed = this.exited.then(() => {
      this.#hasEnded = true;
      stream.destroy();
    });
  }

  /** Starts a container that was made. Throws as `DockerEngine.call`. */
  static async start(container: Container, options: ContainerStart): Promise<ContainerChild> {
    const all = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
    // Before the start, so that the first byte is not missed.
    const attached = await container.ask('to attach to a container', (one, abortSignal) =>
      one.attach({ ...all, abortSignal }),
    );
    // A cut connection; what waits for the end reports why.
    const stream = asDuplex(attached).on('error', () => undefined);
    try {
      const start = (one: Dockerode.Container, abortSignal: AbortSignal) => one.start({ abortSignal });
      await container.ask('to start a container', start, START_LIMIT_MS);
    } catch (error) {
      stream.destroy();
      throw error;
    }
    const child = new ContainerChild(container, stream, options);
    if (options.size !== undefined) await child.resize(options.size);
    return child;
  }

  write(data: string | Uint8Array): WriteResult {
    return this.#hasEnded ? 'closed' : writeToStream(this.#stream, data);
  }

  flushed(): Promise<boolean> {
    return Promise.resolve(true);
  }

  endInput(): boolean {
    if (this.#options.size !== undefined || !this.#stream.writable) return false;
    this.#stream.end();
    return true;
  }

  /** A container that ends at this moment has no size to set. Throws as `DockerEngine.call`. */
  async resize(size: TerminalSize): Promise<void> {
    if (this.#options.size === undefined || this.#hasEnded) return;
    const { columns: w, rows: h } = size;
    const resize = (one: Dockerode.Container, abortSignal: AbortSignal) => one.resize({ w, h, abortSignal });
    await this.#container.ask('to resize a terminal', resize).catch((error: unknown) => {
      if (!isEnded(error)) throw error;
    });
  }

  /** Ends the container at once. */
  dispose(): void {
    if (this.#hasEnded) return;
    this.isKilledByUs = true;
    // Whether the engine did it is known by the end alone.
    void this.#container.signal('SIGKILL').catch(ignoreBridgeError);
  }

  async #end(): Promise<ExitStatus> {
    try {
      const wait = (one: Dockerode.Container, abortSignal: AbortSignal) => one.wait({ abortSignal });
      await this.#container.ask('to wait for a container', wait, Infinity);
      return this.#endOf(await this.#lastState());
    } catch (error) {
      // What it prints from now on would be missing: it is ended rather than half seen.
      const why = refusalStatus(error) === NOT_THERE ? 'The container is gone.' : messageOf(error);
      const rest = 'its container is removed as soon as the engine answers.';
      return { reason: `${why} How the process ended is not known; ${rest}` };
    }
  }

  /** Asked again when it was killed and not by us: the engine hears of memory by another way than of the end. */
  async #lastState(): Promise<ContainerState> {
    const state = await this.#container.state();
    const isSure = this.isKilledByUs || state.OOMKilled;
    if (isSure || exitStatusFromShell(state.ExitCode).signal !== 'SIGKILL') return state;
    await sleep(this.#container.engine.clock, MEMORY_WORD_MS);
    return this.#container.state();
  }

  /**
   * The end behind the state of a container that has ended. An engine reports a signal as 128 and its number, as a shell does. A
   * program may have chosen the same number: it is read as the signal.
   */
  #endOf({ ExitCode, OOMKilled, Error }: ContainerState): ExitStatus {
    const end = exitStatusFromShell(ExitCode);
    const outOfMemory = OOMKilled && end.signal === 'SIGKILL';
    const other = 'The kernel ended a process of it that used more memory than the container may.';
    const reasons = [
      ...(OOMKilled ? [outOfMemory ? this.#options.memoryWords : other] : []),
      ...(Error === '' ? [] : [`The engine says: ${Error}`]),
    ];
    return {
      ...end,
      ...(outOfMemory && { outOfMemory }),
      ...(reasons.length > 0 && { reason: reasons.join(' ') }),
    };
  }
}
