// Pure: which image a file is, by its first bytes (https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern).

const starts: readonly (readonly [type: string, start: string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/bmp', 'BM'],
  ['image/x-icon', '\0\0\x01\0'],
];

/** The media type of an image that browsers show; undefined for another file. SVG is text, and has a diff. */
export function imageType(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 16).toString('latin1');
  if (head.startsWith('RIFF') && head.startsWith('WEBPVP', 8)) return 'image/webp';
  if (head.startsWith('ftypavif', 4)) return 'image/avif';
  return starts.find(([, start]) => head.startsWith(start))?.[0];
}
