import { expect, it } from 'vitest';
import { TypedKeys } from '../../../src/cli/attach/typed-keys.js';
import { ManualClock } from '../../harness/manual-clock.js';

function typed(bytes: Buffer, pieceBytes: number, waitMs = 2_000): string {
  const clock = new ManualClock();
  let passed = '';
  const keys = new TypedKeys(clock, (more) => (passed += more.toString('latin1')));
  for (let at = 0; at < bytes.length; at += pieceBytes) keys.read(bytes.subarray(at, at + pieceBytes));
  clock.advance(waitMs);
  keys.dispose();
  expect(clock.timerCount).toBe(0);
  return Buffer.from(passed, 'latin1').toString();
}
const each = (text: string): string[] => [1, 2, 5, text.length].map((size) => typed(Buffer.from(text), size));

it.each([
  ['device attributes', '\x1b[?62;22;52c'],
  ['secondary device attributes', '\x1b[>41;354;0c'],
  ['tertiary device attributes', '\x1bP!|00000000\x1b\\'],
  ['the state of the terminal', '\x1b[0n'],
  ['the place of the cursor', '\x1b[24;80R'],
  ['the place of the cursor, with the page', '\x1b[?24;80;1R'],
  ['the state of a mode', '\x1b[?2026;2$y'],
  ['a colour', '\x1b]11;rgb:0000/0000/0000\x1b\\'],
  ['a colour, ended by BEL', '\x1b]4;1;rgb:cdcd/0000/0000\x07'],
  ['the clipboard', '\x1b]52;c;cm0gLXJmIH4K\x07'],
  ['the name of the terminal', '\x1bP>|XTerm(390)\x1b\\'],
  ['a setting', '\x1bP1$r0m\x1b\\'],
  ['a capability', '\x1bP1+r544e=787465726d\x1b\\'],
  ['a checksum', '\x1bP1!~ABCD\x1b\\'],
  ['the size', '\x1b[8;24;80t'],
  ['the size in pixels', '\x1b[4;600;800t'],
  ['a title', '\x1b]lrm -rf ~\x1b\\'],
  ['the focus', '\x1b[I\x1b[O'],
  ['the keyboard protocol', '\x1b[?1u'],
  ['a change of colours', '\x1b[?997;1n'],
  ['terminal parameters', '\x1b[2;1;1;128;128;1;0x'],
  ['graphics', '\x1b_Gi=1;OK\x1b\\'],
  ['graphics sizes', '\x1b[?2;0;800;600S'],
  ['a click', '\x1b[<0;10;10M\x1b[<0;10;10m'],
  ['a click in the old way', '\x1b[M !!'],
  ['an answer in eight bits', '\u009b'],
])('an answer of the terminal is typed by nobody: %s', (_, answer) => {
  expect(each(`a${answer}b`)).toEqual(['ab', 'ab', 'ab', 'ab']);
  expect(each(answer)).toEqual(['', '', '', '']);
});

it.each([
  ['text', 'héllo 漢 😀 ½\r\t\x7f\x03'],
  ['arrows', '\x1b[A\x1b[1;5D\x1bOA'],
  ['function keys', '\x1bOP\x1b[15~\x1b[1;2Q\x1b[[A\x1b[24;5~'],
  ['Alt', '\x1bb\x1b\r\x1b\x7f'],
  ['Alt with an arrow', '\x1b\x1b[A'],
  ['back tab', '\x1b[Z'],
  ['the encodings of kitty and xterm', '\x1b[97;5u\x1b[27;5;13~\x1b[57441;2:1u'],
  ['a paste', '\x1b[200~one\ntwo\x1b[201~'],
])('keys pass: %s', (_, keys) => {
  expect(each(keys)).toEqual([keys, keys, keys, keys]);
});

it('Esc, and Alt with a character that begins an answer, pass when nothing follows', () => {
  for (const key of ['\x1b', '\x1b[', '\x1b]', '\x1bP', '\x1bO', '\x1b\x1b']) {
    expect(typed(Buffer.from(key), key.length, 40)).toBe(key === '\x1b\x1b' ? '\x1b' : '');
    expect(typed(Buffer.from(key), key.length, 60)).toBe(key);
  }
});

it('an answer whose end is lost takes no key of later with it', () => {
  const clock = new ManualClock();
  let passed = '';
  const keys = new TypedKeys(clock, (more) => (passed += more.toString()));
  keys.read(Buffer.from('\x1b]11;rgb:00'));
  clock.advance(1_000);
  keys.read(Buffer.from('yes\r'));
  expect(passed).toBe('yes\r');
  keys.read(Buffer.from('\x1bP1$r\x1b[A'));
  expect(passed).toBe('yes\r\x1b[A');
  keys.dispose();
  expect(clock.timerCount).toBe(0);
});
