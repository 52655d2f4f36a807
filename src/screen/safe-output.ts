// Pure.
/** A longer title or link is dropped. */
const MAX_STRING_CHARS = 2_048;
/** The ESC and kind at the start of a string, and its terminator. */
const STRING_DELIMITERS = 4;
const MAX_TITLE_CHARS = 200;
const MAX_PARAMETER_CHARS = 64;
/** How much of an incomplete control sequence is kept for the next call; one with so many parameters is dropped anyway. */
const MAX_CARRIED_CHARS = 2 * MAX_PARAMETER_CHARS;

/** BEL, BS, HT, LF, VT, FF, CR, SO and SI. */
const safeControl = /^[\x07-\x0f]$/;
/** DECSC, DECRC, IND, NEL, HTS, RI, the modes of the keypad, and the character sets US, UK and line drawing. */
const safeEscape = /^(?:[78DEHM=>]|[()*+][0AB])$/;
/** Insert, cursor moves, erase, delete, scroll, tabs, repeat, style, margins, save and restore. */
const safeFinal = /^[@A-MPSTXZ`abdefgmrsu]$/;
const numbers = /^\d{0,5}(?:[;:]\d{0,5})*$/;
/**
 * Cursor keys, origin, wrap, blink, cursor, alternate screens, bracketed paste, synchronized update. Not the modes in which a
 * terminal sends bytes that no one typed: mouse, focus, and reports of color or size changes.
 */
const safePrivateModes = new Set(['1', '6', '7', '12', '25', '47', '1047', '1048', '1049', '2004', '2026']);
const INSERT_MODE = '4';
/** Instead of a full reset, which would also clear the scrollback of a person's terminal. */
const RESET = '\x1b[!p\x1b[?1049l\x1b[H\x1b[2J';

/** Text, one ECMA-48 sequence (a string may also be cut short by another sequence), or one other character. */
const piece =
  /([^\x00-\x1f\x7f]+)|\x1b\[([\x30-\x3f]*)([\x20-\x2f]*)([\x40-\x7e])|\x1b\]([^\x07\x18\x1a\x1b]*)(\x07|\x1b\\|[\x18\x1a]|(?=\x1b|$))|\x1b[PX^_][^\x18\x1a\x1b]*(?:\x1b\\|[\x18\x1a]|(?=\x1b|$))|\x1b([\x20-\x2f]*[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e])|([^])/y;
/** A possible beginning of a sequence at the end of a text. */
export const unfinished =
  /\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*|\][^\x07\x18\x1a\x1b]*\x1b?|[PX^_][^\x18\x1a\x1b]*\x1b?|[\x20-\x2f]*)$/;
const stringEnd = /[\x07\x18\x1a]|\x1b[^]/;

/**
 * Filters a program's output for a second terminal. It passes text, style, cursor moves, erasing, margins, screen modes, titles and
 * links, each rewritten from its parsed form, and drops all else: a query, whose answer would be typed into the session, and
 * sequences that reach the terminal's clipboard, files or windows.
 */
export class SafeOutput {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #carried = '';
  /** Inside a string that is too long: it is dropped up to its end. */
  #isInString = false;

  /** Returns the safe part. An incomplete sequence at the end is returned by the next call. */
  filter(bytes: Uint8Array): string {
    const decoded = this.#decoder.decode(bytes, { stream: true }).replace(/[\x80-\x9f]/g, sevenBits);
    const text = this.#withoutUnfinished(this.#behindString(this.#carried + decoded));
    let safe = '';
    piece.lastIndex = 0;
    for (let found = piece.exec(text); found !== null; found = piece.exec(text)) safe += safePiece(found);
    return safe;
  }

  #behindString(text: string): string {
    this.#carried = '';
    if (!this.#isInString) return text;
    const end = stringEnd.exec(text);
    if (end === null) {
      if (text.endsWith('\x1b')) this.#carried = '\x1b';
      return '';
    }
    this.#isInString = false;
    const isBrokenOff = end[0].length > 1 && end[0] !== '\x1b\\';
    return text.slice(end.index + (isBrokenOff ? 0 : end[0].length));
  }

  #withoutUnfinished(text: string): string {
    const [rest = ''] = unfinished.exec(text) ?? [];
    if (this.#isInString || rest === '') return this.#isInString ? '' : text;
    if (!/^\x1b[\]PX^_]/.test(rest)) this.#carried = rest.slice(0, MAX_CARRIED_CHARS);
    else if (rest.length <= MAX_STRING_CHARS + STRING_DELIMITERS) this.#carried = rest;
    else {
      this.#isInString = true;
      this.#carried = rest.endsWith('\x1b') ? '\x1b' : '';
    }
    return text.slice(0, text.length - rest.length);
  }
}

/** An 8-bit control character as its 7-bit equivalent of two characters. */
function sevenBits(control: string): string {
  return `\x1b${String.fromCharCode(control.charCodeAt(0) - 0x40)}`;
}

function safePiece(found: RegExpExecArray): string {
  const [, plain, parameters = '', intermediates = '', final, osc, oscEnd = '', escape, other = ''] = found;
  if (plain !== undefined) return plain;
  if (final !== undefined) return safeCsi(parameters, intermediates, final);
  if (osc !== undefined) return oscEnd === '\x07' || oscEnd === '\x1b\\' ? safeOsc(osc) : '';
  if (escape === 'c') return RESET;
  if (escape !== undefined) return safeEscape.test(escape) ? `\x1b${escape}` : '';
  return safeControl.test(other) ? other : '';
}

function safeCsi(parameters: string, intermediates: string, final: string): string {
  if (parameters.length > MAX_PARAMETER_CHARS) return '';
  if (final === 'h' || final === 'l') return intermediates === '' ? safeModes(parameters, final) : '';
  const sequence = `\x1b[${parameters}${intermediates}${final}`;
  // DECSCUSR and DECSTR.
  if (intermediates === ' ') return final === 'q' && /^\d?$/.test(parameters) ? sequence : '';
  if (intermediates === '!') return final === 'p' && parameters === '' ? sequence : '';
  if (intermediates !== '' || !numbers.test(parameters) || !safeFinal.test(final)) return '';
  // With parameters, `u` selects a keyboard protocol and `s` sets left and right margins.
  return (final === 'u' || final === 's') && parameters !== '' ? '' : sequence;
}

function safeModes(parameters: string, final: string): string {
  const isPrivate = parameters.startsWith('?');
  return parameters
    .slice(isPrivate ? 1 : 0)
    .split(';')
    .filter((mode) => (isPrivate ? safePrivateModes.has(mode) : mode === INSERT_MODE))
    .map((mode) => `\x1b[${isPrivate ? '?' : ''}${mode}${final}`)
    .join('');
}

function safeOsc(data: string): string {
  if (data.length > MAX_STRING_CHARS) return '';
  const title = /^[02];([^]*)$/.exec(data)?.[1];
  if (title !== undefined) {
    const shown = [...title.replace(/[\x00-\x1f\x7f]/g, ' ')].slice(0, MAX_TITLE_CHARS).join('');
    return `\x1b]2;${shown}\x07`;
  }
  return /^8;(?:id=[\w.-]*)?;(?:https?:\/\/[\x21-\x7e]+)?$/.test(data) ? `\x1b]${data}\x1b\\` : '';
}
