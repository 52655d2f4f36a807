import type { Readable } from 'node:stream';
import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { nextEvent, DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { serveConnection, type ServerParts } from '../server.js';
import { StdioWire, type WireOutput } from './stdio-wire.js';

/** What of a process the protocol needs. */
export interface ProcessStdio {
  readonly input: Readable;
  readonly output: WireOutput;
  /** Calls `listener` when the process is asked to end. */
  onSignal(listener: (signal: NodeJS.Signals) => void): Disposable;
  exit(code: number): void;
}

/** A client may close its end right behind its last request: answers that come at once still go out. */
const LAST_ANSWERS_MS = 120;
/** All of leaving: clients send the next harder signal after 100 to 400 ms. */
const LEAVE_MS = 250;

/**
 * Serves one client over stdin and stdout until it is gone: end of input, closed output, or a signal. Then it disposes
 * and exits with code 0, at the latest 250 ms later. Resolves with the reason, for tests whose `exit` returns.
 */
export function serveUntilGone<Services>(
  parts: ServerParts<Services>,
  stdio: ProcessStdio,
  dispose: () => void | Promise<void>,
): Promise<string> {
  const { clock, logger } = parts;
  const store = new DisposableStore();
  const wire = new StdioWire(stdio.input, stdio.output);
  return new Promise((resolve) => {
    let leaving = false;
    const leave = (reason: string, waitForAnswers: boolean) => {
      if (leaving) return;
      leaving = true;
      logger.info(`Shutting down: ${reason}`);
      const exit = () => {
        store.dispose();
        stdio.exit(0);
        resolve(reason);
      };
      store.add(clock.after(LEAVE_MS, exit));
      finish(waitForAnswers)
        .catch((error: unknown) =>
          logger.warn('Not all could be closed on leaving', { error: messageOf(error) }),
        )
        .finally(exit);
    };
    const finish = async (waitForAnswers: boolean) => {
      if (waitForAnswers && wire.hasOpenRequests)
        await withinMs(clock, LAST_ANSWERS_MS, nextEvent(wire.onSettled));
      await connection.close();
      await dispose();
    };
    store.add(wire.onGone((reason) => leave(reason, true)));
    store.add(stdio.onSignal((signal) => leave(`received ${signal}`, false)));
    const connection = serveConnection(parts, wire);
  });
}

/** Claude Code sends SIGINT, then SIGTERM; a terminal that closes sends SIGHUP. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Takes stdin, stdout and the signals of this process for the protocol. From then on stdout carries the protocol alone:
 * whatever else writes to `process.stdout` goes to stderr.
 */
export function claimProcessStdio(): ProcessStdio {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  Object.assign(stdout, { write: stderr.write.bind(stderr) });
  // Each failed write is reported to its writer; without a listener it would also end the process.
  stdout.on('error', () => undefined);
  return {
    input: stdin,
    output: {
      write: (text, done) => void write(text, done),
      get unreadBytes() {
        return stdout.writableLength;
      },
    },
    onSignal: (listener) => {
      for (const signal of END_SIGNALS) process.on(signal, listener);
      return toDisposable(() => {
        for (const signal of END_SIGNALS) process.off(signal, listener);
      });
    },
    exit: (code) => process.exit(code),
  };
}
