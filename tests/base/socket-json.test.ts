import { expect, it } from 'vitest';
import { socketJson } from '../../src/base/socket-json.js';

const text = Buffer.from('{"type":"ping"}');

it.each([
  ['a buffer', text],
  [
    'pieces, of which one ends in the middle of a character',
    [Buffer.from([34, 0xc3]), Buffer.from([0xa4, 34])],
  ],
  ['an array buffer', new Uint8Array(text).buffer],
])('reads %s', (_what, data) => {
  expect(socketJson(data)).toEqual(Array.isArray(data) ? 'ä' : { type: 'ping' });
});

it('gives nothing for what is no JSON', () => {
  expect(socketJson(Buffer.from('{"type":'))).toBeUndefined();
});
