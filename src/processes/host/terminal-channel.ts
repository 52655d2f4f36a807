import { BridgeError } from '../../base/errors.js';
import type { Pid } from '../../os/pid.js';
import { pauseUntil } from '../../pty/pause-until.js';
import type { PtySession } from '../../pty/pty-session.js';
import type { OutputSink } from '../process-backend.js';
import { endOfStatus, type ProcessEnd, type TerminalSize } from '../process-handle.js';
import type { HostChannel } from './host-channel.js';

/** A program in a pseudo-terminal. */
export class TerminalChannel implements HostChannel {
  readonly pid: Pid | undefined;
  readonly isWrapped = true;
  readonly ended: Promise<ProcessEnd>;
  readonly #session: PtySession;
  #hasEnded = false;

  constructor(session: PtySession, sink: OutputSink) {
    this.#session = session;
    this.pid = session.pid;
    session.onData((bytes) => pauseUntil(session, sink.write('terminal', bytes)));
    this.ended = session.exited.then((status) => {
      this.#hasEnded = true;
      return endOfStatus(status);
    });
  }

  get isReaped(): boolean {
    return this.#hasEnded;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#session.write(bytes)) return;
    throw this.#hasEnded
      ? new BridgeError(
          'PROCESS_NOT_RUNNING',
          'Input was given to a process that has ended.',
          'Start it again.',
        )
      : new BridgeError(
          'INPUT_REFUSED',
          'The terminal holds megabytes of input that the process has not read.',
          'Wait until it reads, or end it.',
        );
  }

  endInput(): void {
    throw new BridgeError(
      'NO_TERMINAL',
      'The input of a terminal was to be closed, and a terminal has no end to close.',
      'Send the key ctrl-d, which means the end of input to most programs.',
    );
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#session.resize(columns, rows);
  }

  dispose(): void {
    this.#session.dispose();
  }
}
