import { BridgeError } from './errors.js';

/** For `catch`: undefined in the place of an expected error; any other is thrown on. */
export function ignoreBridgeError(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
}
