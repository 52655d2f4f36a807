import type { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';

/** Logs what was asked for, such as `tools/call read_file`, and why it was refused. The message repeats arguments; the caller has it. */
export function logRefusal(logger: Logger, asked: string, { code }: Pick<BridgeError, 'code'>): void {
  logger.info(`${asked} was refused`, { code });
}

/** Logs at debug how long the answer to `asked` took. */
export async function timed<T>(logger: Logger, asked: string, answer: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  try {
    return await answer();
  } finally {
    logger.debug(asked, { ms: Math.round(performance.now() - startMs) });
  }
}
