// Pure: what a terminal sends for a key.
import { BridgeError } from '../base/errors.js';

const ESC = '\x1b';

const FIXED: Readonly<Record<string, string>> = {
  esc: ESC,
  enter: '\r',
  tab: '\t',
  'shift-tab': `${ESC}[Z`,
  backspace: '\x7f',
  delete: `${ESC}[3~`,
  insert: `${ESC}[2~`,
  space: ' ',
  'page-up': `${ESC}[5~`,
  'page-down': `${ESC}[6~`,
  'ctrl-space': '\0',
  'ctrl-[': ESC,
  'ctrl-\\': '\x1c',
  'ctrl-]': '\x1d',
  'ctrl-^': '\x1e',
  'ctrl-_': '\x1f',
};

/** Keys of which a program may ask for another form (DECCKM): `ESC [ A` or `ESC O A`. */
const CURSOR: Readonly<Record<string, string>> = {
  up: 'A',
  down: 'B',
  right: 'C',
  left: 'D',
  home: 'H',
  end: 'F',
};

/** F1 to F12, as xterm sends them. */
const FUNCTION = 'OP OQ OR OS [15~ [17~ [18~ [19~ [20~ [21~ [23~ [24~'.split(' ');

/** Further names of keys. */
const OTHER: Readonly<Record<string, string>> = {
  escape: 'esc',
  return: 'enter',
  pageup: 'page-up',
  pagedown: 'page-down',
  del: 'delete',
};

/** What an error message lists. */
const keyNames =
  'ctrl-a to ctrl-z, alt-<character>, esc, enter, tab, shift-tab, backspace, delete, insert, space, up, down, left, right, home, end, page-up, page-down, f1 to f12';

/** The bytes of the keys, in order. `isApplicationMode` is what the program has asked for (DECCKM). Throws INVALID_ARGUMENTS for a key that does not exist. */
export function bytesOfKeys(names: readonly string[], isApplicationMode: boolean): Buffer {
  let text = '';
  for (const name of names) {
    const key = textOfKey(name, isApplicationMode);
    if (key === undefined) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `There is no key ${JSON.stringify(name.slice(0, 100))}.`,
        `Known keys: ${keyNames}. Give anything else as text.`,
      );
    }
    text += key;
  }
  return Buffer.from(text);
}

function textOfKey(given: string, isApplicationMode: boolean): string | undefined {
  const alt = /^alt-(.)$/su.exec(given)?.[1];
  if (alt !== undefined) return ESC + alt;
  const name = given
    .toLowerCase()
    .replace(/^(arrow-|cursor-)/, '')
    .replaceAll('_', '-');
  const letter = /^ctrl-([a-z])$/.exec(name)?.[1];
  if (letter !== undefined) return String.fromCharCode(letter.charCodeAt(0) - 0x60);
  const cursor = Object.hasOwn(CURSOR, name) ? CURSOR[name] : undefined;
  if (cursor !== undefined) return `${ESC}${isApplicationMode ? 'O' : '['}${cursor}`;
  const number = /^f(\d{1,2})$/.exec(name)?.[1];
  const ending = number === undefined ? undefined : FUNCTION[Number(number) - 1];
  if (ending !== undefined) return ESC + ending;
  const fixed = Object.hasOwn(OTHER, name) ? (OTHER[name] ?? '') : name;
  return Object.hasOwn(FIXED, fixed) ? FIXED[fixed] : undefined;
}
