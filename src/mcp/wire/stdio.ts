import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { nextEvent } from '../../base/event.js';
import { DisposableStore } from '../../base/lifecycle.js';
import type { ProcessStdio } from './process-stdio.js';
import { serveConnection, type ServerParts } from '../server.js';
import { StdioWire } from './stdio-wire.js';

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
