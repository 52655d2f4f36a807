import type { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';

/** Where a message may begin to repeat an argument: a parenthesis, or quoted text that is no path. */
const REPEATED = /(?:^|\s+)(?:\(|["'`](?!\/[^\s"'`]*["'`])).*$/s;

/** Logs what was asked for, such as `tools/call read_file`, and why it was refused, without what the message repeats of its arguments. */
export function logRefusal(
  logger: Logger,
  asked: string,
  { code, message }: Pick<BridgeError, 'code' | 'message'>,
): void {
  // It repeats names and values of arguments in many forms; the caller has it.
  if (code === 'INVALID_ARGUMENTS') {
    logger.info(`${asked} was refused`, { code });
    return;
  }
  logger.info(`${asked} was refused`, { code, message: message.replace(REPEATED, ' …').trim() });
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
