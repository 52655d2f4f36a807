// Pure: the sentence that leads a person to the command `doctor`.
import { isErrorCode, type ErrorCode } from './errors.js';

/** Errors that come from the machine or the settings, and not from the call. */
const CODES: ReadonlySet<ErrorCode> = new Set([
  'CLAUDE_NOT_FOUND',
  'CLAUDE_NOT_EXECUTABLE',
  'CLAUDE_TOO_OLD',
  'CONFIG_ERROR',
  'NO_ALLOWED_ROOTS',
  'STATE_UNUSABLE',
]);
const CODE = /^([A-Z_]+): /;

/** `command` is how a person runs this program. */
export function doctorSentence(command: string): string {
  return `\`${command} doctor\` shows what is wrong.`;
}

export function isForDoctor(code: ErrorCode): boolean {
  return CODES.has(code);
}

/** Returns a filter that ends the text of an error of the machine or the settings with that sentence. */
export function doctorGuidance(command: string): (text: string) => string {
  return (text) => {
    const code = CODE.exec(text)?.[1] ?? '';
    return isErrorCode(code) && isForDoctor(code) ? `${text} ${doctorSentence(command)}` : text;
  };
}
