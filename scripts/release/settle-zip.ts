import { readFile, writeFile } from 'node:fs/promises';
import { FIXED_TIME } from './fixed-time.js';

// Positions in the records of a zip archive, in bytes from their beginning.
const END = { signature: 0x06054b50, size: 22, count: 10, listAt: 16 };
const LISTED = { signature: 0x02014b50, size: 46, flags: 8, time: 12, packedSize: 20, localAt: 42 };
const LISTED_LENGTHS = { name: 28, extra: 30, comment: 32 };
const LOCAL = { signature: 0x04034b50, size: 30, time: 10, name: 26, extra: 28 };
const HAS_SIZES_BEHIND = 0x0008;

interface ZipEntry {
  readonly name: string;
  readonly listed: Buffer;
  readonly local: Buffer;
}

/**
 * Sorts the entries of a zip archive and gives them a fixed time. Throws for an archive that it does not understand: with comments, or
 * with sizes behind the data.
 */
export async function settleZip(file: string): Promise<void> {
  await writeFile(file, settledZip(await readFile(file)));
}

function settledZip(zip: Buffer): Buffer {
  const end = Buffer.from(zip.subarray(zip.length - END.size));
  expectSignature(end, END.signature);
  const entries = listedEntries(zip, end).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  let at = 0;
  for (const { listed, local } of entries) {
    listed.writeUInt32LE(at, LISTED.localAt);
    listed.writeUInt32LE(dosTime(FIXED_TIME), LISTED.time);
    local.writeUInt32LE(dosTime(FIXED_TIME), LOCAL.time);
    at += local.length;
  }
  end.writeUInt32LE(at, END.listAt);
  return Buffer.concat([...entries.map(({ local }) => local), ...entries.map(({ listed }) => listed), end]);
}

function listedEntries(zip: Buffer, end: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = end.readUInt32LE(END.listAt);
  while (entries.length < end.readUInt16LE(END.count)) {
    const head = zip.subarray(at, at + LISTED.size);
    expectSignature(head, LISTED.signature);
    if ((head.readUInt16LE(LISTED.flags) & HAS_SIZES_BEHIND) !== 0)
      throw new Error('The zip archive has sizes behind the data.');
    const [name, extra, comment] = [
      head.readUInt16LE(LISTED_LENGTHS.name),
      head.readUInt16LE(LISTED_LENGTHS.extra),
      head.readUInt16LE(LISTED_LENGTHS.comment),
    ];
    const listed = Buffer.from(zip.subarray(at, at + LISTED.size + name + extra + comment));
    at += listed.length;
    entries.push({
      name: listed.toString('utf8', LISTED.size, LISTED.size + name),
      listed,
      local: localRecord(zip, listed),
    });
  }
  return entries;
}

/** The header in front of the data, and the data. */
function localRecord(zip: Buffer, listed: Buffer): Buffer {
  const at = listed.readUInt32LE(LISTED.localAt);
  const head = zip.subarray(at, at + LOCAL.size);
  expectSignature(head, LOCAL.signature);
  const before = LOCAL.size + head.readUInt16LE(LOCAL.name) + head.readUInt16LE(LOCAL.extra);
  return Buffer.from(zip.subarray(at, at + before + listed.readUInt32LE(LISTED.packedSize)));
}

function expectSignature(record: Buffer, signature: number): void {
  if (record.length < 4 || record.readUInt32LE(0) !== signature)
    throw new Error('The zip archive is damaged, or has a comment.');
}

/** Of DOS: two seconds, minutes and hours in the low half, day, month and years since 1980 in the high one. */
function dosTime(time: Date): number {
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  return ((date << 16) | clock) >>> 0;
}
