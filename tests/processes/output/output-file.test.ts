import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.js';
import { BLOCK_BYTES, BlockPool } from '../../../src/processes/output/block-pool.js';
import { OutputFile } from '../../../src/processes/output/output-file.js';
import { OutputReader } from '../../../src/processes/output/output-reader.js';
import { scratchFolder } from '../scratch-folder.js';

const MB = 1024 * 1024;

async function openFile({
  maxBytes = 64 * MB,
  folder = '',
  isLocal = false,
  clock = systemClock,
  waits,
}: {
  maxBytes?: number;
  folder?: string;
  isLocal?: boolean;
  clock?: Clock;
  waits?: () => number;
} = {}) {
  const place = folder === '' ? await scratchFolder() : folder;
  const faults: unknown[] = [];
  const file = new OutputFile({
    folder: place,
    stream: 'stdout',
    maxBytes,
    pool: new BlockPool(),
    clock,
    isLocal,
    ...(waits && { waits }),
    onError: (fault) => faults.push(fault),
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
    for (const length of [1, 3, 4_095, 70_000, 2, BLOCK_BYTES, BLOCK_BYTES + 1, 1_000_000, 5]) {
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
    for (const from of [0, 1, 99_999, BLOCK_BYTES - 1, 3 * MB + 17]) {
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

  test('writes to a local disk at once, when the file is open', async () => {
    const { file, folder } = await openFile({ isLocal: true });
    await file.write(numbered(0, 100_000));
    await file.written();
    expect(file.write(numbered(100_000, 50_000))).toBeUndefined();
    // Before anything else has its turn.
    expect(readFileSync(join(folder, 'stdout.0')).equals(numbered(0, 150_000))).toBe(true);
    expect(file.endBytes).toBe(150_000);
    await file.close();
  });

  test('keeps order and parts on a local disk, whatever the pieces', async () => {
    const { file, reader } = await openFile({ isLocal: true, maxBytes: 16 * MB });
    let written = 0;
    for (let round = 0; round < 40; round++) {
      for (const length of [1, 4_095, 70_000, BLOCK_BYTES + 1, 5]) {
        const wait = file.write(numbered(written, length));
        written += length;
        if (round % 3 > 0) await wait;
      }
    }
    await file.written();
    const { bytes } = await reader.read(0, written);
    expect(bytes.equals(numbered(0, written))).toBe(true);
    expect(await reader.extent()).toEqual({ start: 0, end: written, missingBytes: 0 });
    await file.close();
  });

  test('leaves a disk that was slow to the background for a while', async () => {
    let nowMs = 0;
    // Each look at it is so much later: so is the end of a write.
    let stepMs = 0;
    const clock = { ...systemClock, monotonicMs: () => (nowMs += stepMs) };
    const { file, folder } = await openFile({ isLocal: true, clock });
    const size = () => statSync(join(folder, 'stdout.0')).size;
    await file.write(Buffer.alloc(20_000));
    await file.written();
    stepMs = 50;
    void file.write(Buffer.alloc(10));
    stepMs = 0;
    expect(size()).toBe(20_010);
    void file.write(Buffer.alloc(10));
    expect(size()).toBe(20_010);
    await file.written();
    expect(size()).toBe(20_020);
    nowMs += 2_000;
    void file.write(Buffer.alloc(10));
    expect(size()).toBe(20_030);
    await file.close();
  });

  test('does not take a busy machine for a slow disk', async () => {
    let nowMs = 0;
    let stepMs = 0;
    let waited = 0;
    // A long write during which this program waits so often, and which takes 50 ms.
    let waitsInWrite = 0;
    const clock = { ...systemClock, monotonicMs: () => (nowMs += stepMs) };
    const { file, folder } = await openFile({
      isLocal: true,
      clock,
      waits: () => (waited += waitsInWrite),
    });
    const size = () => statSync(join(folder, 'stdout.0')).size;
    await file.write(Buffer.alloc(20_000));
    await file.written();
    const write = (): void => {
      stepMs = 50;
      void file.write(Buffer.alloc(20_000));
      stepMs = 0;
    };
    write();
    write();
    expect(size()).toBe(60_000);
    waitsInWrite = 1;
    write();
    write();
    expect(size()).toBe(80_000);
    await file.written();
    expect(size()).toBe(100_000);
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
