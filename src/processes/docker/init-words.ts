// Pure: what the container's init says when it cannot start the program.

const BEGINNING = '[FATAL tini (';
const WHOLE = /^\[FATAL tini \(\d+\)\] exec .* failed: (.+?)\r?\n?$/s;
/** Longer than any path the message could name. */
export const MAX_INIT_WORDS_BYTES = 8_192;

/** Whether text so far may be, or become, init's message. */
export function mayBeInitWords(text: string): boolean {
  return text.length < BEGINNING.length ? BEGINNING.startsWith(text) : text.startsWith(BEGINNING);
}

/** Why the program could not be started ("No such file or directory"), or undefined for other text. */
export function initFault(text: string): string | undefined {
  return WHOLE.exec(text)?.[1];
}
