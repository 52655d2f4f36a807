import { RE2JS, RE2JSException } from 're2js';
import { messageOf } from '../../base/errors.js';
import { err, ok, type Result } from '../result.js';

/** Whether a text holds what is looked for. */
export type HoldsText = (text: string) => boolean;

/** A fixed text is found by its characters, a regular expression by RE2: its time grows with the text only. */
export function textFinder(wanted: string, isRegex: boolean): Result<HoldsText> {
  if (!isRegex) return ok((text) => text.includes(wanted));
  try {
    const compiled = RE2JS.compile(wanted, RE2JS.MULTILINE);
    return ok((text) => compiled.matcher(text).find());
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    return err(
      'UNKNOWN_NAME',
      `${JSON.stringify(wanted)} is no regular expression in RE2 syntax: ${messageOf(thrown)}.`,
      'Correct it, or leave out regex to look for the text as it is.',
    );
  }
}
