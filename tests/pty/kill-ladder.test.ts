import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { nextEvent } from '../../src/base/event.js';
import { createSecret } from '../../src/base/ids.js';
import { childEnvironment } from '../../src/pty/child-env.js';
import { findDescendants, findMarked } from '../../src/pty/descendants.js';
import { killTree } from '../../src/pty/kill-ladder.js';
import { PtyManager } from '../../src/pty/pty-manager.js';
import type { PtySession } from '../../src/pty/pty-session.js';

const DAEMONIZE = fileURLToPath(new URL('../fixtures/programs/daemonize.mjs', import.meta.url));
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const clock = systemClock;

let manager: PtyManager;
let mark: string;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-kill-'));
  manager = new PtyManager({ clock });
  mark = createSecret();
});
afterEach(async () => {
  manager.dispose();
  await manager.whenClosed();
  for (const { pid } of await findMarked(mark)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function start(command: readonly string[]): Promise<PtySession> {
  return manager.spawn({
    command,
    cwd: '/',
    env: childEnvironment(env, { mark }),
    columns: 80,
    rows: 24,
    shell: '/bin/sh',
  });
}

async function startPrinting(words: string, command: readonly string[]): Promise<PtySession> {
  const session = await start(command);
  let seen = '';
  await nextEvent(session.onData, (data) => (seen += data.toString()).includes(words));
  return session;
}

async function waitForMarked(count: number): Promise<void> {
  await expect.poll(async () => (await findMarked(mark)).length, { timeout: 5000, interval: 20 }).toBe(count);
}

it('an obedient program is ended by SIGTERM, and its end is told as that', async () => {
  const session = await startPrinting('ready', ['/bin/sh', '-c', 'printf ready; exec sleep 60']);
  const report = await killTree({ pid: session.pid, mark, clock });
  expect(await session.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
  expect(report.remaining).toEqual([]);
  expect(report.forced).toEqual([]);
  // The wrapper and the program.
  expect(report.ended.length).toBeGreaterThanOrEqual(2);
  expect(await findMarked(mark)).toEqual([]);
});

it('a program that leaves when interrupted is not signalled at all', async () => {
  const session = await startPrinting('ready', [
    '/bin/sh',
    '-c',
    'trap "exit 7" INT; printf ready; while :; do sleep 0.02; done',
  ]);
  const interrupt = async () => {
    session.write('\x03');
    await session.exited;
  };
  await killTree({ pid: session.pid, mark, clock, interrupt });
  expect(await session.exited).toEqual({ exitCode: 7, signal: null });
});

it('a program that ignores SIGTERM and SIGHUP is ended by SIGKILL after the grace time, with its end told', async () => {
  const session = await startPrinting('ready', [
    '/bin/sh',
    '-c',
    'trap "" TERM HUP INT; printf ready; while :; do sleep 0.05; done',
  ]);
  const report = await killTree({ pid: session.pid, mark, clock, graceMs: 150 });
  expect(await session.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
  expect(report.forced.map((one) => one.name)).toContain('sh');
  expect(report.remaining).toEqual([]);
});

it('a stopped program is ended', async () => {
  const session = await startPrinting('ready', [
    '/bin/sh',
    '-c',
    'printf ready; kill -STOP $$; exec sleep 60',
  ]);
  const report = await killTree({ pid: session.pid, mark, clock });
  expect(await session.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
  expect(report.forced).toEqual([]);
});

it.each(['nothing', 'term'])(
  'a daemon in a session of its own that ignores %s is found by its mark and ended',
  async (ignores) => {
    const readyFile = join(folder, 'ready');
    const session = await start([process.execPath, DAEMONIZE, ignores, readyFile]);
    expect(await session.exited).toEqual({ exitCode: 0, signal: null });
    await expect.poll(() => existsSync(readyFile), { timeout: 10_000, interval: 10 }).toBe(true);
    await waitForMarked(1);
    const report = await killTree({ pid: session.pid, mark, clock, graceMs: 300 });
    expect(report.remaining).toEqual([]);
    expect(report.forced).toHaveLength(ignores === 'term' ? 1 : 0);
    expect(await findMarked(mark)).toEqual([]);
  },
);

it('a child that gave up its environment is ended as a descendant of the terminal', async () => {
  const session = await startPrinting('ready', [
    '/bin/sh',
    '-c',
    'env -i /bin/sleep 60 & printf ready; wait',
  ]);
  await expect
    .poll(async () => (await findDescendants({ pid: session.pid, mark })).map((one) => one.name))
    .toContain('sleep');
  expect((await killTree({ pid: session.pid, mark, clock })).remaining).toEqual([]);
  await session.exited;
});

it('a session that nobody reads is ended all the same', async () => {
  const session = await startPrinting('ready', ['/bin/sh', '-c', 'printf ready; sleep 0.05; yes']);
  session.pause();
  const report = await killTree({ pid: session.pid, mark, clock, graceMs: 100 });
  expect(report.remaining).toEqual([]);
  session.resume();
  await session.exited;
});

it('nothing is signalled when nothing carries the mark, whatever runs under the pid now', async () => {
  const stranger = await startPrinting('ready', ['/bin/sh', '-c', 'printf ready; exec sleep 60']);
  const report = await killTree({ pid: stranger.pid, mark: createSecret(), clock });
  expect(report).toEqual({ ended: [], forced: [], remaining: [] });
  expect(await findMarked(mark)).not.toEqual([]);
});
