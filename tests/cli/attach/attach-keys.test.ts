import { expect, it } from 'vitest';
import { AttachKeys, detachByte } from '../../../src/cli/attach/attach-keys.js';

const DETACH = 0x1d;
const kinds = (keys: AttachKeys, text: string): string[] =>
  keys
    .read(Buffer.from(text))
    .map((action) => (action.kind === 'keys' ? action.bytes.toString() : action.kind));

it('keys are passed on as they come, up to the detach key', () => {
  const keys = new AttachKeys(DETACH, () => false);
  expect(kinds(keys, 'héllo\r\x1b[A')).toEqual(['héllo\r\x1b[A']);
  expect(kinds(keys, 'last\x1dnever')).toEqual(['last', 'detach']);
});

it('while something is asked the detach key begins an answer, and twice it detaches', () => {
  const keys = new AttachKeys(DETACH, () => true);
  expect(keys.read(Buffer.from('\x1dA'))).toEqual([{ kind: 'choosing' }, { kind: 'chosen', key: 'a' }]);
  expect(kinds(keys, '\x1d')).toEqual(['choosing']);
  expect(keys.read(Buffer.from('3on'))).toEqual([
    { kind: 'chosen', key: '3' },
    { kind: 'keys', bytes: Buffer.from('on') },
  ]);
  expect(kinds(keys, '\x1dxy')).toEqual(['choosing', 'cancelled', 'y']);
  expect(kinds(keys, '\x1d\x1d')).toEqual(['choosing', 'detach']);
});

it('what people press to leave a program is noticed; Ctrl-Z does not reach the session, since it would stop it', () => {
  expect(kinds(new AttachKeys(DETACH, () => false), 'a\x1ab')).toEqual(['a', 'b', 'leaving']);
  expect(kinds(new AttachKeys(DETACH, () => false), '\x03')).toEqual(['\x03', 'leaving']);
});

it.each([
  ['ctrl-]', 0x1d],
  ['^\\', 0x1c],
  ['Ctrl-A', 0x01],
])('%s is a detach key', (name, byte) => {
  expect(detachByte(name)).toBe(byte);
});

it.each(['ctrl-m', 'ctrl-[', 'x', '', 'ctrl-@'])('%j is none', (name) => {
  expect(() => detachByte(name)).toThrow(/cannot be used as the detach key/);
});
