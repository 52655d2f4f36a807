import { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { onPage } from './page-words.js';
import type { ActionError } from './protocol.js';

/** What a page is told of an error; one of the board itself goes to the log. */
export function actionErrorOf(error: unknown, logger: Logger): ActionError {
  if (error instanceof BridgeError)
    return { code: error.code, message: onPage(error.message), hint: onPage(error.hint) };
  logger.error('What a page asked for failed', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return {
    code: 'INTERNAL_ERROR',
    message: 'An error in the board itself.',
    hint: 'Its log has the details.',
  };
}
