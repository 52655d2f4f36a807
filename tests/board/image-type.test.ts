import { expect, it } from 'vitest';
import { imageType } from '../../src/board/image-type.js';

it.each([
  ['\x89PNG\r\n\x1a\n....', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF89a..', 'image/gif'],
  ['RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ['\0\0\0\x1cftypavif', 'image/avif'],
  ['\0\0\x01\0\x01', 'image/x-icon'],
  ['RIFF\x10\0\0\0WAVEfmt ', undefined],
  ['<svg onload="alert(1)">', undefined],
  ['<html>', undefined],
  ['', undefined],
])('%j is %s by its first bytes', (start, type) => {
  expect(imageType(Buffer.from(start, 'latin1'))).toBe(type);
});
