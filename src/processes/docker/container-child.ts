import type { Duplex } from 'node:stream';
import { sleep, withinMs } from '../../base/clock.js';
import {
  type Child,
  type OutputSink,
  type TerminalSize,
  type WriteResult,
  writeToStream,
} from '../../pty/child.js';
import { exitStatusFromShell, type ExitStatus } from '../../pty/exit-status.js';
import { AttachedOutput } from './attached-output.js';
import type { Container, ContainerState } from './container.js';

/** The kernel's word on memory may come to the engine a moment after the end. */
const MEMORY_WORD_MS = 300;
/** An engine that is restarted is back within seconds; longer the end of its containers is not waited for. */
const LOST_TRIES = 5;
const LOST_PAUSE_MS = 1_000;
/** How often a container is checked whose output is open, and one whose program has closed its output. */
const CHECK_MS = 5_000;
const SILENT_CHECK_MS = 250;
const NO_SUCH_STATUS = 404;

export interface ContainerChildOptions {
  /** Both directions of the first process, not yet read from. */
  readonly stream: Duplex;
  readonly sink: OutputSink;
  readonly isTerminal: boolean;
  /** For a person, when the kernel ended it because it used more memory than it may. */
  readonly memoryWords: string;
}

/** The first process of a container that was started. It ends with its container, so nothing holds its output open for longer. */
export class ContainerChild implements Child {
  /** This machine cannot signal it. */
  readonly pid = undefined;
  readonly isReaped = false;
  readonly isWrapped = false;
  /** The end as the engine reports it, or that the engine is gone for good; when all output is in the sink. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  readonly closed: Promise<void>;
  readonly #container: Container;
  readonly #options: ContainerChildOptions;
  readonly #output: AttachedOutput;
  #hasEnded = false;
  /** SIGKILL was sent from here: its end needs no other reason. */
  isKilledByUs = false;

  constructor(container: Container, options: ContainerChildOptions) {
    this.#container = container;
    this.#options = options;
    this.#output = new AttachedOutput(options.stream, options);
    this.exited = this.#follow();
    this.closed = this.exited.then(() => {
      this.#hasEnded = true;
      options.stream.destroy();
    });
  }

  write(data: string | Uint8Array): WriteResult {
    return this.#hasEnded ? 'closed' : writeToStream(this.#options.stream, data);
  }

  flushed(): Promise<boolean> {
    return Promise.resolve(true);
  }

  endInput(): boolean {
    const { stream, isTerminal } = this.#options;
    if (isTerminal || !stream.writable) return false;
    stream.end();
    return true;
  }

  /** A container that ends at this moment has no size to set; its end is reported. */
  async resize(size: TerminalSize): Promise<void> {
    if (this.#options.isTerminal && !this.#hasEnded) await this.#container.resize(size);
  }

  /** Ends the container at once. */
  dispose(): void {
    if (this.#hasEnded) return;
    this.isKilledByUs = true;
    // Whether the engine did it is known by the end alone.
    void this.#container.signal('SIGKILL');
  }

  async #follow(): Promise<ExitStatus> {
    const { clock } = this.#container;
    for (;;) {
      // The engine closes the stream with the end of the container.
      await withinMs(clock, CHECK_MS, this.#output.ended);
      const isOver = this.#output.isOver;
      const looked = await this.#look(isOver);
      if (looked !== 'running') {
        await this.#output.rest(clock);
        return looked;
      }
      // The program closed its output, and goes on.
      if (isOver) await sleep(clock, SILENT_CHECK_MS);
    }
  }

  /** How the container is. After the end of its output the engine gets some seconds to come back. */
  async #look(isOver: boolean): Promise<'running' | ExitStatus> {
    let words = '';
    for (let tries = 0; tries < (isOver ? LOST_TRIES : 1); tries++) {
      if (tries > 0) await sleep(this.#container.clock, LOST_PAUSE_MS);
      const answer = await this.#container.state();
      if (answer.kind === 'refused' && answer.status === NO_SUCH_STATUS)
        return lost('The container was removed by somebody else');
      if (answer.kind === 'value' && answer.value.Running)
        // What it prints from now on would be missing: it is ended rather than half seen.
        return tries === 0 ? 'running' : lost('The connection to the engine was cut');
      if (answer.kind === 'value') {
        const end = this.#endOf(await this.#withMemoryWord(answer.value));
        const note = 'The connection to the engine was cut before; what it printed since is missing.';
        if (tries === 0) return end;
        return { ...end, reason: end.reason === undefined ? note : `${end.reason} ${note}` };
      }
      words = answer.kind === 'unreachable' ? answer.fault.message : answer.words;
    }
    return isOver ? lost(`The engine went away (${words})`) : 'running';
  }

  /** Asked again when it was killed and not by us: the engine hears of memory by another way than of the end. */
  async #withMemoryWord(state: ContainerState): Promise<ContainerState> {
    if (this.isKilledByUs || state.OOMKilled || exitStatusFromShell(state.ExitCode).signal !== 'SIGKILL')
      return state;
    await sleep(this.#container.clock, MEMORY_WORD_MS);
    const again = await this.#container.state();
    return again.kind === 'value' ? again.value : state;
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

function lost(why: string): ExitStatus {
  const rest = 'How the process ended is not known; its container is removed as soon as the engine answers.';
  return { reason: `${why}. ${rest}` };
}
