import { statSync } from 'node:fs';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ENTRY_BYTES, OutputFile } from '../../../src/processes/output/output-file.js';
import { OutputReader } from '../../../src/processes/output/output-reader.js';
import { scratchFolder } from '../scratch-folder.js';

const MB = 1024 * 1024;

async function openFile({
  maxBytes = 64 * MB,
  folder = '',
}: {
  maxBytes?: number;
  folder?: string;
} = {}) {
  const place = folder === '' ? await scratchFolder() : folder;
  const faults: unknown[] = [];
  const file = new OutputFile({
    folder: place,
    stream: 'stdout',
    maxBytes,
    onError: (error) => faults.push(error),
  });
  return { folder: place, file, reader: new OutputReader(place, 'stdout'), faults };
}

/** Bytes that tell where they stand. */
function numbered(from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at++) bytes[at] = ((from + at) * 31 + ((from + at) >>> 8)) & 0xff;
  return bytes;
}

describe('the file of an output stream', () => {
  test('holds what was written, in order, whatever the pieces', async () => {
    const { file, reader } = await openFile();
    let written = 0;
    for (const length of [1, 3, 4_095, 70_000, 2, ENTRY_BYTES, ENTRY_BYTES + 1, 1_000_000, 5]) {
      await file.write(numbered(written, length));
      written += length;
    }
    await file.written();
    expect(file.endBytes).toBe(written);
    const { bytes } = await reader.read(0, written);
    expect(bytes.equals(numbered(0, written))).toBe(true);
    expect(await reader.extent()).toEqual({ start: 0, end: written, missingBytes: 0 });
    await file.close();
  });

  test('copies what it is given', async () => {
    const { file, reader } = await openFile();
    const bytes = Buffer.from('first');
    void file.write(bytes);
    bytes.fill(0x78);
    await file.close();
    expect((await reader.read(0, 100)).bytes.toString()).toBe('first');
  });

  test('can be read at any range while it is written', async () => {
    const { file, reader } = await openFile();
    for (let at = 0; at < 8 * MB; at += 100_000) await file.write(numbered(at, 100_000));
    await file.written();
    for (const from of [0, 1, 99_999, ENTRY_BYTES - 1, 3 * MB + 17]) {
      const { bytes, from: begin } = await reader.read(from, 10_000);
      expect(begin).toBe(from);
      expect(bytes.equals(numbered(from, 10_000))).toBe(true);
    }
    await file.close();
  });

  test('asks its source to wait while the disk is behind, and to go on', async () => {
    const { file } = await openFile();
    const waits: Promise<void>[] = [];
    for (let count = 0; count < 10; count++) {
      const wait = file.write(Buffer.alloc(MB / 2));
      if (wait !== undefined) waits.push(wait);
    }
    expect(waits.length).toBeGreaterThan(0);
    await Promise.all(waits);
    expect(file.write(Buffer.alloc(10))).toBeUndefined();
    await file.close();
  });

  test('drops the oldest beyond its bound, and every reader knows how much', async () => {
    const maxBytes = 4 * MB;
    const { file, reader, folder } = await openFile({ maxBytes });
    const total = 20 * MB;
    for (let at = 0; at < total; at += MB / 4) await file.write(numbered(at, MB / 4));
    await file.written();
    const { start, end, missingBytes } = await reader.extent();
    expect(end).toBe(total);
    expect(missingBytes).toBe(start);
    expect(end - start).toBeLessThanOrEqual(maxBytes);
    expect(end - start).toBeGreaterThan(maxBytes * 0.8);
    const { from, bytes } = await reader.read(0, 1000);
    expect(from).toBe(start);
    expect(bytes.equals(numbered(start, 1000))).toBe(true);
    expect((await readdir(folder)).length).toBeLessThanOrEqual(9);
    await file.close();
  });

  test('opens again for what is printed after it was closed', async () => {
    const { file, reader } = await openFile();
    void file.write(Buffer.from('before '));
    await file.close();
    void file.write(Buffer.from('after'));
    await file.close();
    expect((await reader.read(0, 100)).bytes.toString()).toBe('before after');
  });

  test('counts what the disk refuses, tells it once, and goes on behind the gap', async () => {
    const folder = join(await scratchFolder(), 'sub');
    const { file, reader, faults } = await openFile({ folder });
    // The folder is not there: nothing can be written.
    void file.write(Buffer.from('lost '));
    await file.written();
    void file.write(Buffer.from('too '));
    await file.written();
    expect(file.lostBytes).toBe(9);
    expect(faults).toHaveLength(1);
    await mkdir(folder);
    void file.write(Buffer.from('kept'));
    await file.close();
    expect(await reader.extent()).toEqual({ start: 9, end: 13, missingBytes: 9 });
    expect((await reader.read(0, 100)).bytes.toString()).toBe('kept');
    await rm(folder, { recursive: true });
  });

  test('begins again when its folder was removed meanwhile, and every reader knows what is missing', async () => {
    const folder = join(await scratchFolder(), 'sub');
    await mkdir(folder);
    const { file, reader, faults } = await openFile({ folder });
    void file.write(Buffer.from('before '));
    await file.written();
    await rm(folder, { recursive: true });
    await mkdir(folder);
    void file.write(Buffer.from('after'));
    await file.close();
    expect(await reader.extent()).toEqual({ start: 7, end: 12, missingBytes: 7 });
    expect((await reader.read(0, 100)).bytes.toString()).toBe('after');
    expect(faults).toEqual([]);
    await rm(folder, { recursive: true });
  });

  test('has nobody else read it', async () => {
    const { file, folder } = await openFile();
    await chmod(folder, 0o755);
    void file.write(Buffer.from('x'));
    await file.close();
    expect(statSync(join(folder, 'stdout.0')).mode & 0o777).toBe(0o600);
  });

  test('has an empty extent when nothing was printed, or all was removed', async () => {
    const { reader, folder } = await openFile();
    expect(await reader.extent()).toEqual({ start: 0, end: 0, missingBytes: 0 });
    expect((await reader.read(5, 10)).bytes).toHaveLength(0);
    await rm(folder, { recursive: true });
    expect(await reader.extent()).toEqual({ start: 0, end: 0, missingBytes: 0 });
  });
});
