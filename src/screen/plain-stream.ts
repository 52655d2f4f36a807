/** ESC, backspace, vertical tab and form feed: what a plain stream of lines does not hold. */
const MOVING_BYTES = [0x1b, 0x08, 0x0b, 0x0c] as const;

/** The same in text. */
export const movingCharacter = /[\x1b\x08\x0b\x0c]/;

/** `bytes` may move the cursor otherwise than by writing lines. */
export function movesCursor(bytes: Buffer): boolean {
  return MOVING_BYTES.some((byte) => bytes.includes(byte));
}

/** Tells of a stream whether it has held nothing but lines so far: then each line stands for itself. */
export class PlainStream {
  #isPlain = true;

  /** With `bytes`, which are the next ones of it. */
  isPlainWith(bytes: Buffer): boolean {
    this.#isPlain &&= !movesCursor(bytes);
    return this.#isPlain;
  }
}
