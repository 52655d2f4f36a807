import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { createProcessId } from '../../../src/base/ids.js';
import { HostBackend } from '../../../src/processes/host/host-backend.js';
import { WIDE_PIPE_BYTES, WidePipes } from '../../../src/processes/host/wide-pipes.js';
import { Collector, valueOf } from '../../contracts/process-backend/under-test.js';

const PIPE_BYTES = 64 * 1024;
const hasPerl = process.platform === 'linux' && existsSync('/usr/bin/perl');

describe.runIf(hasPerl)('a pipe', () => {
  it('holds more when it was widened, and keeps what was in it', async () => {
    const { readFd, writeFd } = await openPipe();
    writeSync(writeFd, 'first');
    const pipes = widePipes();
    expect(await pipes.widen(readFd)).toBe(true);
    expect(writeSync(writeFd, Buffer.alloc(2 * WIDE_PIPE_BYTES))).toBeGreaterThanOrEqual(
      WIDE_PIPE_BYTES - PIPE_BYTES,
    );
  });

  it('stays as it is without Perl, or when it is closed', async () => {
    const { readFd, writeFd } = await openPipe();
    const pipes = widePipes('/nowhere/perl');
    expect(await pipes.widen(readFd)).toBe(false);
    expect(await pipes.widen(readFd)).toBe(false);
    expect(writeSync(writeFd, Buffer.alloc(2 * WIDE_PIPE_BYTES))).toBe(PIPE_BYTES);
    const disposed = widePipes();
    disposed.dispose();
    expect(await disposed.widen(readFd)).toBe(false);
  });

  it('is widened for a program that prints faster than it is read, and for no other', async () => {
    // Tells on stderr what its stdout holds, once that has changed.
    const script = `
      my $piece = 'x' x 65536; my $size = 0;
      for (1 .. $ARGV[0]) { syswrite STDOUT, $piece }
      for (1 .. $ARGV[1]) { $size = fcntl(STDOUT, 1032, 0); last if $size > 65536; select undef, undef, undef, 0.02 }
      print STDERR $size`;
    expect(await runPerl(script, '160', '500')).toEqual({
      printed: 160 * PIPE_BYTES,
      told: `${WIDE_PIPE_BYTES}`,
    });
    expect(await runPerl(script, '40', '1')).toEqual({ printed: 40 * PIPE_BYTES, told: `${PIPE_BYTES}` });
  });
});

function widePipes(program?: string): WidePipes {
  const pipes = new WidePipes(program);
  onTestFinished(() => pipes.dispose());
  return pipes;
}

async function runPerl(script: string, ...args: string[]) {
  const cwd = await mkdtemp(join(tmpdir(), 'wide-'));
  const backend = new HostBackend({
    clock: systemClock,
    terminals: () => Promise.reject(new Error('no terminal in this test')),
    shell: '/bin/sh',
    pipeFolder: cwd,
    batchPipes: 2,
  });
  const output = new Collector();
  const env = { PATH: '/usr/bin:/bin' };
  const command = ['perl', '-e', script, ...args] as const;
  const process = valueOf(await backend.spawn({ id: createProcessId(), command, cwd, env }, output));
  await process.exited;
  await backend.dispose();
  await rm(cwd, { recursive: true, force: true });
  return { printed: output.text('stdout').length, told: output.text('stderr') };
}

async function openPipe() {
  const folder = await mkdtemp(join(tmpdir(), 'wide-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeFd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(async () => {
    closeSync(readFd);
    closeSync(writeFd);
    await rm(folder, { recursive: true, force: true });
  });
  return { readFd, writeFd };
}
