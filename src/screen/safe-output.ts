/** A title or a link that is longer is left out. */
const MAX_STRING_CHARS = 2_048;
/** ESC, the kind of the string, and the ESC of its end. */
const STRING_MARKS = 4;
const MAX_TITLE_CHARS = 200;
const MAX_PARAMETER_CHARS = 64;
/** More of a control sequence is not kept: with so many parameters it is left out. */
const MAX_CARRIED_CHARS = 2 * MAX_PARAMETER_CHARS;

/** BEL, BS, HT, LF, VT, FF, CR, SO and SI. */
const safeControl = /^[\x07-\x0f]$/;
/** DECSC, DECRC, IND, NEL, HTS, RI, the modes of the keypad, and the character sets US, UK and line drawing. */
const safeEscape = /^(?:[78DEHM=>]|[()*+][0AB])$/;
/** Insert, cursor moves, erase, delete, scroll, tabs, repeat, style, margins, save and restore. */
const safeFinal = /^[@A-MPSTXZ`abdefgmrsu]$/;
const numbers = /^\d{0,5}(?:[;:]\d{0,5})*$/;
/**
 * Cursor keys, origin, wrap, blink, cursor, alternate screens, bracketed paste, synchronized update. Left out are the modes in
 * which a terminal sends bytes that nobody typed: mouse, focus, changes of colours and of the size.
 */
const safePrivateModes = new Set(['1', '6', '7', '12', '25', '47', '1047', '1048', '1049', '2004', '2026']);
const INSERT_MODE = '4';
/** Instead of a full reset, which would also clear what stands above the session in a person's terminal. */
const RESET = '\x1b[!p\x1b[?1049l\x1b[H\x1b[2J';

/** Text, a sequence by the shapes of ECMA-48 (a string also where another sequence breaks it off), or one other character. */
const piece =
  /([^\x00-\x1f\x7f]+)|\x1b\[([\x30-\x3f]*)([\x20-\x2f]*)([\x40-\x7e])|\x1b\]([^\x07\x18\x1a\x1b]*)(\x07|\x1b\\|[\x18\x1a]|(?=\x1b|$))|\x1b[PX^_][^\x18\x1a\x1b]*(?:\x1b\\|[\x18\x1a]|(?=\x1b|$))|\x1b([\x20-\x2f]*[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e])|([^])/y;
/** What may be the beginning of a sequence, at the end of what has come. */
const unfinished =
  /\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*|\][^\x07\x18\x1a\x1b]*\x1b?|[PX^_][^\x18\x1a\x1b]*\x1b?|[\x20-\x2f]*)$/;
const stringEnd = /[\x07\x18\x1a]|\x1b[^]/;

/**
 * What a program prints, as a second terminal may see it: text, style, cursor moves, erasing, margins, the modes of a screen,
 * titles and links. All else is left out: it could ask that terminal a question, whose answer would be typed into the
 * session, or reach its clipboard, files and windows. What is passed on is rewritten from what was read.
 */
export class SafeOutput {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #carried = '';
  /** In a string that is too long to be kept: what follows is left out, up to its end. */
  #isInString = false;

  /** The part that is safe. A sequence that is cut off at the end comes with the next piece. */
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
    else if (rest.length <= MAX_STRING_CHARS + STRING_MARKS) this.#carried = rest;
    else {
      this.#isInString = true;
      this.#carried = rest.endsWith('\x1b') ? '\x1b' : '';
    }
    return text.slice(0, text.length - rest.length);
  }
}

/** A control character of eight bits as the two characters that mean the same. */
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
  // With parameters these two choose how keys are sent, and margins at the sides.
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
