import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { nextEvent } from '../../../src/base/lifecycle.js';
import { createSecret } from '../../../src/base/ids.js';
import { childEnvironment } from '../../../src/pty/child-env.js';
import type { MarkedProcess } from '../../../src/os/process-info.js';
import { thisMachine as system, type ProcessSystem } from '../../../src/os/process-system.js';
import { killTree } from '../../../src/pty/kill-ladder.js';
import { PtyManager } from '../../../src/pty/pty-manager.js';
import { HastyClock } from '../../harness/hasty-clock.js';
import { ReadChild } from '../../harness/read-child.js';
import { until } from '../../harness/until.js';
import { tempFolder } from '../../harness/temp-folder.js';

const DAEMONIZE = fileURLToPath(new URL('../../fixtures/programs/daemonize.mjs', import.meta.url));
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
const clock = systemClock;

let manager: PtyManager;
let mark: string;
let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
  manager = new PtyManager({ clock });
  mark = createSecret();
});
afterEach(async () => {
  manager.dispose();
  await manager.whenClosed();
  for (const { pid } of await findMarked(mark)) process.kill(pid, 'SIGKILL');
});

function start(command: readonly string[]): Promise<ReadChild> {
  return ReadChild.start((sink) =>
    manager.spawn({
      command,
      cwd: '/',
      env: childEnvironment(env, { mark }),
      size: { columns: 80, rows: 24 },
      shell: '/bin/sh',
      sink,
    }),
  );
}

async function startPrinting(words: string, command: readonly string[]): Promise<ReadChild> {
  const session = await start(command);
  let seen = '';
  await nextEvent(session.onData, (data) => (seen += data.toString()).includes(words));
  return session;
}

const findMarked = async (wanted: string): Promise<MarkedProcess[]> =>
  (await system.source.markedTable()).filter((one) => one.mark === wanted);

describe(`by ${system.source.kind}`, () => {
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
    await killTree({ pid: session.pid, mark, clock, system, interrupt });
    expect(await session.exited).toEqual({ code: 7 });
  });

  it.each(['nothing', 'term'])(
    'a daemon in a session of its own that ignores %s is found by its mark and ended',
    async (ignores) => {
      const readyFile = join(folder, 'ready');
      const session = await start([process.execPath, DAEMONIZE, ignores, readyFile]);
      expect(await session.exited).toEqual({ code: 0 });
      await until('it has started', () => existsSync(readyFile));
      await until('it alone is left', async () => (await findMarked(mark)).length === 1);
      // One that ends at SIGTERM has the whole grace time: on a busy machine `ps` alone may take longer than a short one.
      const grace = ignores === 'term' ? { graceMs: 300 } : {};
      const report = await killTree({ pid: session.pid, mark, clock, system, ...grace });
      expect(report.remaining).toEqual([]);
      expect(await findMarked(mark)).toEqual([]);
    },
  );

  it('a child that gave up its environment is ended as a descendant of the terminal', async () => {
    const session = await startPrinting('ready', [
      '/bin/sh',
      '-c',
      'env -i /bin/sleep 60 & printf ready; wait',
    ]);
    await until('it has given up its environment', async () => {
      const marked = new Set((await findMarked(mark)).map(({ pid }) => pid));
      return (await system.source.table()).some(
        ({ pid, parentPid, name }) =>
          name === 'sleep' && parentPid !== undefined && marked.has(parentPid) && !marked.has(pid),
      );
    });
    const report = await killTree({ pid: session.pid, mark, clock, system });
    expect(report.ended.map(({ name }) => name)).toContain('sleep');
    expect(report.remaining).toEqual([]);
    await session.exited;
  });

  it('nothing is signalled when nothing carries the mark, whatever runs under the pid now', async () => {
    const stranger = await startPrinting('ready', ['/bin/sh', '-c', 'printf ready; exec sleep 60']);
    const report = await killTree({ pid: stranger.pid, mark: createSecret(), clock, system });
    expect(report).toEqual({ ended: [], remaining: [] });
    expect(await findMarked(mark)).not.toEqual([]);
  });
});

it('a table that can never be read is a fault, and nothing is signalled', async () => {
  const session = await startPrinting('ready', ['/bin/sh', '-c', 'printf ready; exec sleep 60']);
  const fails = () => Promise.reject(new Error('no process table'));
  const blind: ProcessSystem = {
    ...system,
    source: { ...system.source, table: fails, markedTable: fails },
    send: () => {
      throw new Error('a signal was sent');
    },
  };
  const killed = killTree({ pid: session.pid, mark, clock: new HastyClock(), system: blind, graceMs: 100 });
  await expect(killed).rejects.toThrow('no process table');
  expect(await findMarked(mark)).not.toEqual([]);
});
