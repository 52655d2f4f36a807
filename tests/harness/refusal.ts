import { BridgeError } from '../../src/base/errors.js';

/** The error of a call, as code, message and hint. */
export async function refusal(answer: Promise<unknown>): Promise<string> {
  const error: unknown = await answer.catch((thrown: unknown) => thrown);
  return error instanceof BridgeError
    ? `${error.code}: ${error.message} ${error.hint}`
    : `no error: ${String(error)}`;
}
