// Pure.
import { RE2JS, RE2JSException } from 're2js';
import { BridgeError, messageOf } from '../../base/errors.js';

/** Whether a text holds what is looked for. */
export type HoldsText = (text: string) => boolean;

/**
 * A fixed text is found by its characters, a regular expression by RE2: its time grows with the text only. Throws
 * INVALID_ARGUMENTS for an expression that RE2 does not take.
 */
export function textFinder(wanted: string, isRegex: boolean): HoldsText {
  if (!isRegex) return (text) => text.includes(wanted);
  try {
    const compiled = RE2JS.compile(wanted, RE2JS.MULTILINE);
    return (text) => compiled.matcher(text).find();
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${JSON.stringify(wanted)} is no regular expression in RE2 syntax: ${messageOf(thrown)}.`,
      'Correct it, or leave out regex to look for the text as it is.',
    );
  }
}
