import { z } from 'zod';
import { BridgeError, isErrorCode, messageOf } from '../../base/errors.js';

/** Enough of the name of a method to recognise it. */
const MAX_METHOD_CHARS = 40;

/** An error as one process sends it to another. */
export const wireErrorSchema = z.object({ code: z.string(), message: z.string(), hint: z.string() });
export type WireError = z.infer<typeof wireErrorSchema>;

export function wireErrorOf(error: unknown): WireError {
  if (error instanceof BridgeError) return { code: error.code, message: error.message, hint: error.hint };
  return {
    code: 'INTERNAL_ERROR',
    message: messageOf(error),
    hint: 'Try again. The keeper of a task writes a log: keeper.log in the task’s state directory.',
  };
}

export function errorFromWire({ code, message, hint }: WireError): BridgeError {
  return new BridgeError(isErrorCode(code) ? code : 'INTERNAL_ERROR', message, hint);
}

/** The answer to a request that the keeper does not know: the client is of another version. */
export function notUnderstood(what: 'task' | 'process', protocol: number, request: unknown): BridgeError {
  const named = z.object({ method: z.string() }).safeParse(request);
  const method = named.success ? `'${named.data.method.slice(0, MAX_METHOD_CHARS)}'` : 'this';
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The ${what}'s keeper (protocol ${protocol}) does not understand ${method} as it was sent.`,
    `The ${what} was started by another version of the bridge; it can still be listed, followed and killed.`,
  );
}

/** What a keeper writes to the pipe that its server reads: the record of what now runs, or the error. */
export const readyMessageSchema = z.union([
  z.object({ record: z.unknown() }).refine(({ record }) => record !== undefined),
  z.object({ error: wireErrorSchema }),
]);
export type ReadyMessage = z.infer<typeof readyMessageSchema>;

/** The descriptor of that pipe in the keeper. */
export const READY_FD = 3;
