import { withinMs, type Clock } from '../../base/clock.js';
import type { Child, OutputSink, OutputStream } from '../../pty/child.js';
import type { ExitStatus } from '../../pty/exit-status.js';

/** The output of a program is read within milliseconds of its end. If nothing more comes and its pipes are open, another process holds them. */
const QUIET_AFTER_END_MS = 250;
/** A process that holds the pipes and prints on does not delay the end for longer. */
const OPEN_AFTER_END_MS = 2_000;

const HELD_OPEN = 'A process that it left behind still holds its output open; what that prints is kept, too.';

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
