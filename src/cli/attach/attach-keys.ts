// Pure.
import { BridgeError } from '../../base/errors.js';

/** Keys that a terminal sends as the same bytes, and that every session needs: Tab, Enter, Esc, line feed, backspace. */
const NEEDED_KEYS = new Set([0x08, 0x09, 0x0a, 0x0d, 0x1b]);
const CTRL_Z = 0x1a;
/** Ctrl-C, Ctrl-D and Ctrl-Z: what people press to leave a program. */
const LEAVING_KEYS = new Set([0x03, 0x04, CTRL_Z]);

export type AttachAction =
  | { readonly kind: 'keys'; readonly bytes: Buffer }
  | { readonly kind: 'detach' }
  /** The detach key, while something is asked: the next key answers. */
  | { readonly kind: 'choosing' }
  | { readonly kind: 'chosen'; readonly key: string }
  | { readonly kind: 'cancelled' }
  /** The person seems to want to leave; the key went to the session, unless it was Ctrl-Z. */
  | { readonly kind: 'leaving' };

/** The byte of a key such as `ctrl-]` or `^\`. Throws INVALID_ARGUMENTS. */
export function detachByte(name: string): number {
  const char = /^(?:ctrl-|\^)([@-_a-z])$/i.exec(name)?.[1]?.toUpperCase();
  const byte = char === undefined ? undefined : char.charCodeAt(0) & 0x1f;
  if (byte !== undefined && byte !== 0 && !NEEDED_KEYS.has(byte)) return byte;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${name.slice(0, 40)}' cannot be used as the detach key.`,
    'Use a key such as ctrl-], ctrl-\\ or ctrl-a, but not Enter, Tab, Esc or Backspace.',
  );
}

/** Takes the detach key out of what a person types. While a decision is open, the key starts an answer instead. */
export class AttachKeys {
  readonly #detach: number;
  readonly #isAsked: () => boolean;
  #isChoosing = false;

  constructor(detach: number, isAsked: () => boolean) {
    this.#detach = detach;
    this.#isAsked = isAsked;
  }

  read(typed: Buffer): AttachAction[] {
    const actions: AttachAction[] = [];
    let from = 0;
    const passOn = (to: number): void => {
      if (to > from) actions.push({ kind: 'keys', bytes: typed.subarray(from, to) });
      from = to + 1;
    };
    for (let at = 0; at < typed.length; at++) {
      const byte = typed[at] ?? 0;
      if (this.#isChoosing) {
        this.#isChoosing = false;
        from = at + 1;
        if (byte === this.#detach) return [...actions, { kind: 'detach' }];
        const key = String.fromCharCode(byte).toLowerCase();
        actions.push(/^[aysdn1-9]$/.test(key) ? { kind: 'chosen', key } : { kind: 'cancelled' });
      } else if (byte === this.#detach) {
        passOn(at);
        if (!this.#isAsked()) return [...actions, { kind: 'detach' }];
        this.#isChoosing = true;
        actions.push({ kind: 'choosing' });
      } else if (byte === CTRL_Z) {
        // If the session stopped itself, no one could continue it.
        passOn(at);
      }
    }
    passOn(typed.length);
    if (typed.some((byte) => LEAVING_KEYS.has(byte))) actions.push({ kind: 'leaving' });
    return actions;
  }
}
