import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitsForPipe } from '../../../src/base/files/waits-for-pipe.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ccb-pipe-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(process.platform === 'linux')('waitsForPipe', () => {
  it('is true for a process that opens a FIFO without a writer, not for one that reads an empty pipe, sleeps, or has ended', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const opening = spawn('cat', [pipe]);
    const reading = spawn('cat');
    const sleeping = spawn('sleep', ['600']);
    const children = [opening, reading, sleeping];
    try {
      await Promise.all(children.map((child) => once(child, 'spawn')));
      await expect.poll(() => waitsForPipe(opening.pid ?? 0)).toBe(true);
      expect(waitsForPipe(reading.pid ?? 0)).toBe(false);
      expect(waitsForPipe(sleeping.pid ?? 0)).toBe(false);
    } finally {
      const closed = children.map((child) => once(child, 'close'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(closed);
    }
    expect(waitsForPipe(opening.pid ?? 0)).toBe(false);
  });
});
