// Pure.
import { BridgeError } from './errors.js';

/** For `catch`: returns undefined for a BridgeError and rethrows any other error. */
export function ignoreBridgeError(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
}
