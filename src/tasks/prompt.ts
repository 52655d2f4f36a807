// Pure: which text may become a prompt.
import { BridgeError } from '../base/errors.js';
import { withoutUnseen } from '../base/text.js';

/** 1 MiB: far more than a model's context takes. Longer text belongs in a file that the prompt names. */
export const MAX_PROMPT_BYTES = 1024 * 1024;
/** Everything that is not text: control characters other than tab, line feed and carriage return. */
const notText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Throws INVALID_PROMPT for text that is empty, too long, or no text. */
export function checkPrompt(prompt: string): void {
  if (withoutUnseen(prompt).trim() === '') {
    throw new BridgeError('INVALID_PROMPT', 'The prompt is empty.', 'Say what Claude Code is to do.');
  }
  const bytes = Buffer.byteLength(prompt);
  if (bytes > MAX_PROMPT_BYTES) {
    throw new BridgeError(
      'INVALID_PROMPT',
      `The prompt is ${bytes} bytes long; at most ${MAX_PROMPT_BYTES} are taken.`,
      'Put the long part into a file of the project and name the file in the prompt.',
    );
  }
  const odd = notText.exec(prompt) ?? loneSurrogate.exec(prompt);
  if (odd !== null) {
    const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw new BridgeError(
      'INVALID_PROMPT',
      `The prompt holds a character that is no text: U+${code} at position ${odd.index}.`,
      'Remove control characters and binary data; put such data into a file of the project and name the file in the prompt.',
    );
  }
}

/** The first word of a command of Claude Code: its own, a skill's or one of the project. A path has a second slash. */
const command = /^\s*(\/[^\s/]*)(?:\s|$)/;

/**
 * Throws INVALID_PROMPT for what Claude Code may take as a command: most of its own ask no model, so no turn would come of them
 * (2.1.330, 2.1.332).
 */
export function checkIsNoCommand(text: string): void {
  const name = command.exec(withoutUnseen(text))?.[1];
  if (name === undefined) return;
  throw new BridgeError(
    'INVALID_PROMPT',
    `The text begins with ${name}, which Claude Code may take as a command of its own: no agent would read it.`,
    `Write a sentence: for a skill or a command of the project, "Use ${name} …".`,
  );
}
