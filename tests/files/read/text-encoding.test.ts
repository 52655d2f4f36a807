import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { textEncodingOf, wholeEnd } from '../../../src/files/read/text-encoding.js';

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

test.each([
  ['', 'utf-8'],
  ['plain', 'utf-8'],
  ['grüße 漢字 🎉\r\n', 'utf-8'],
  ['\ufeffmarked', 'utf-8-bom'],
  ['\u001b[31mred\u001b[0m\u0007', 'utf-8'],
])('%j is %s', (text, encoding) => {
  expect(textEncodingOf(Buffer.from(text), true)).toBe(encoding);
});

test('UTF-16 is recognized by its byte order mark, in both orders', () => {
  const little = utf16('héllo 🎉');
  const big = Buffer.from(little).swap16();
  expect(textEncodingOf(little, true)).toBe('utf-16le');
  expect(textEncodingOf(big, true)).toBe('utf-16be');
  expect(textEncodingOf(Buffer.from('fffe000041000000', 'hex'), true)).toBeUndefined();
});

test('a sample that ends inside a character is checked by the whole ones', () => {
  const bytes = Buffer.from('漢字');
  expect(textEncodingOf(bytes.subarray(0, 5), false)).toBe('utf-8');
  expect(wholeEnd(bytes.subarray(0, 5), 'utf-8')).toBe(3);
  expect(wholeEnd(utf16('🎉').subarray(0, 4), 'utf-16le')).toBe(2);
});

test('binary formats are not text', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const gzip = Buffer.from('1f8b0808', 'hex');
  for (const bytes of [png, gzip, Buffer.from([0]), Buffer.from('a\0b'), randomBytes(4_096)])
    expect(textEncodingOf(bytes, true)).toBeUndefined();
});
