// Pure: errors of another machine, as they come over the line. Their words are shown as those of that machine.
import { BridgeError, isErrorCode } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { errorFromWire, wireErrorSchema } from '../keeper/wire/messages.js';
import type { FarRefusal } from './rpc.js';

const MAX_MESSAGE_CHARS = 4_000;
const MAX_DATA_CHARS = 500;
const DATA_NAME = /^[A-Za-z_]{1,40}$/;
const MAX_STEPS = 5;

/** The error of a far tool: its code where that is one, its text, and what belongs to it. */
export function toolError(
  machine: string,
  text: string,
  { errorCode, ...rest }: Readonly<Record<string, unknown>>,
): BridgeError {
  const code = typeof errorCode === 'string' && isErrorCode(errorCode) ? errorCode : 'INTERNAL_ERROR';
  const message = said(machine, text.replace(`${String(errorCode)}: `, ''));
  const data = Object.entries(rest).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && DATA_NAME.test(name) ? [[name, oneLine(value, MAX_DATA_CHARS)]] : [],
  );
  return new BridgeError(code, message, '', { data: Object.fromEntries(data) });
}

/** The error of a method of the link: in words of the other machine, with steps in words of this one. */
export function refusalOf(machine: string, { message, data }: FarRefusal): BridgeError {
  const error = wireErrorSchema.safeParse(data).data;
  if (error === undefined)
    return new BridgeError(
      'INVALID_ARGUMENTS',
      `${machine} has refused that. ${said(machine, message)}`,
      'Both bridges should be of the same version.',
    );
  // What it says to do is said by it, too; a step is in words of this side.
  const sentences = error.next.filter((step) => typeof step === 'string');
  const steps = error.next.filter((step) => typeof step !== 'string').slice(0, MAX_STEPS);
  const words = said(machine, [error.message, ...sentences].join(' '));
  return errorFromWire({ code: error.code, message: words, next: steps });
}

/** Foreign words in an error: as such, bounded, and on one line. */
function said(machine: string, text: string): string {
  return `${machine} says: ${oneLine(text, MAX_MESSAGE_CHARS)}`;
}
