import { BridgeError } from '../base/errors.js';

/** PROCESS_UNREACHABLE: the process runs, as far as is known, and its keeper does not answer. `why` completes "cannot be reached: …". */
export function processUnreachable(
  id: string,
  why: string,
  hint = 'kill still ends it; ps shows its state.',
): BridgeError {
  return new BridgeError('PROCESS_UNREACHABLE', `The process ${id} cannot be reached: ${why}.`, hint);
}
