import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshRecord } from '../../../src/processes/process-record.js';
import { createProcessId, createSecret } from '../../../src/base/ids.js';
import { identityOf } from '../../../src/store/process-identity.js';
import { openProcesses } from '../../processes/open-processes.js';
import { until } from '../../harness/until.js';

describe('spawn', () => {
  test('shares the room between stdout and stderr', async () => {
    const { sh } = await openProcesses();
    const { stdout = '', stderr = '' } = await sh('seq 1 10000; seq 1 10000 >&2');
    expect(stdout.length + stderr.length).toBeLessThanOrEqual(8_196);
    expect(stdout).toContain('characters left out');
    expect(stderr.endsWith('10000\n')).toBe(true);
    const short = await sh('seq 1 10000; echo warning >&2');
    expect(short.stderr).toBe('warning\n');
    expect(short.stdout?.length).toBeGreaterThan(8_000);
  });

  test('is refused when the disk does not take its record, with the reason, and nothing is left', async () => {
    const { sh, store } = await openProcesses();
    store.write = () => Promise.reject(new Error('ENOSPC: no space left on device'));
    const message: unknown = expect.stringContaining('no space left');
    await expect(sh(':')).rejects.toMatchObject({ code: 'STATE_UNUSABLE', message });
    expect(await readdir(store.path)).toEqual([]);
  });

  test('passes env on, writes it nowhere, and passes nothing of the server that is not on the list', async () => {
    const { service, never, root, store } = await openProcesses();
    const started = await service.spawn(
      { mode: 'host', command: ['env'], commandLine: 'env', env: { GREETING: 'hi' }, keep: false },
      10_000,
      never,
    );
    const names = (started.stdout ?? '').split('\n').map((line) => line.split('=')[0]);
    expect(started.stdout).toContain('GREETING=hi\n');
    expect(started.stdout).toContain(`HOME=${root}\n`);
    expect(names.filter((name) => name?.startsWith('SUITE_') === true)).toEqual([]);
    expect(JSON.stringify(await store.all())).not.toContain('GREETING');
  });

  test('ends a process whose caller went away', async () => {
    const { service, manager } = await openProcesses();
    const caller = new AbortController();
    const common = {
      mode: 'host',
      command: ['sleep', '60'],
      commandLine: 'sleep 60',
      env: {},
      keep: false,
    } as const;
    const spawned = service.spawn(common, 30_000, caller.signal);
    await until('it has started', async () => expect((await manager.list()).length).toBe(1));
    caller.abort();
    expect((await spawned).record).toMatchObject({ status: 'terminated', signal: 'SIGTERM' });
  });
});

describe('input', () => {
  const query = { limitMs: 5_000 };

  test('waits for a pattern through pauses', async () => {
    const { sh, service, never } = await openProcesses();
    const { record } = await sh('read -r x; echo soon; sleep 0.6; echo "result: 42"; sleep 60', 0);
    const answer = await service.input(
      { ...query, id: record.process_id, text: '\n', waitFor: '^result: \\d+$' },
      never,
    );
    expect(answer).toMatchObject({ outcome: 'found', stdout: 'soon\nresult: 42\n' });
  });
});

describe('output', () => {
  test('has the screen of a terminal that has ended', async () => {
    const { sh, output, service, never } = await openProcesses();
    const { record } = await sh("printf '\\033[2;2Hx'", 5_000, { tty: true });
    expect((await output(record.process_id, { screen: true })).screen).toBe('\n x');
    const piped = await sh(':');
    const id = piped.record.process_id;
    const query = { id, lines: 1, maxBytes: 100, isRegex: false, screen: true };
    await expect(service.output(query, never)).rejects.toMatchObject({ code: 'NO_TERMINAL' });
  });

  test('is dropped from its front beyond the bound, and that is told', async () => {
    const { sh, output } = await openProcesses({ maxOutputBytes: 3_000_000 });
    const { record } = await sh('seq -w 1 2000000', 20_000);
    const { extents } = await output(record.process_id);
    expect(extents.stdout?.end).toBe(16_000_000);
    expect(extents.stdout?.missingBytes).toBeGreaterThan(12_000_000);
    expect((await output(record.process_id, { lines: 1 })).text?.text).toBe('2000000\n');
  });
});

describe('the list', () => {
  test('keeps so many ended ones, the newest', async () => {
    const { sh, manager, store } = await openProcesses({ historySize: 2 });
    for (const word of ['a', 'b', 'c', 'd']) await sh(`echo ${word}`);
    await manager.sweep();
    expect((await store.all()).map((record) => record.command_line)).toEqual(['echo d', 'echo c']);
  });

  test('keeps no more bytes than it may', async () => {
    const { sh, manager, store } = await openProcesses({ maxHistoryBytes: 1_000_000 });
    for (const word of ['a', 'b']) await sh(`head -c 700000 /dev/zero; : ${word}`);
    await manager.sweep();
    expect(await store.all()).toHaveLength(1);
  });
});

describe('kill', () => {
  test('only signals where the signal does not ask for an end', async () => {
    const { sh, service, output } = await openProcesses();
    const { record } = await sh("trap 'echo again' HUP; echo up; while :; do sleep 0.02; done", 200);
    const signalled = await service.kill(record.process_id, 'SIGHUP');
    expect(signalled.record.status).toBe('running');
    await until('it has got the signal', async () =>
      expect((await output(record.process_id)).text?.text).toContain('again'),
    );
  });
});

describe('processes of a server that is gone', () => {
  test('are ended, and told so, by the next one', async () => {
    const first = await openProcesses();
    const { record } = await first.sh('echo printed; exec sleep 60', 200);
    // As if its server had been killed: the record names a process that is no more.
    const dead = { pid: 2 ** 22 - 1, start_time: '1', boot_id: null };
    await first.store.write({ ...record, owner: dead });
    const next = await openProcesses({ statePath: first.statePath });
    const [found] = await next.service.list(10);
    expect(found?.record).toMatchObject({ status: 'terminated', exit_code: null });
    expect(found?.record.reason).toContain('server that had started it is gone');
    expect((await next.output(record.process_id)).text?.text).toBe('printed\n');
    await until('the first server knows', async () =>
      expect((await first.manager.list())[0]?.record.status).toBe('terminated'),
    );
  });

  test('of another server that lives are left alone', async () => {
    const mine = await openProcesses();
    const { record } = await mine.sh('exec sleep 60', 0);
    // The parent of this process lives, and is another.
    const owner = await identityOf(process.ppid);
    const other = {
      ...freshRecord,
      ...record,
      process_id: createProcessId(),
      mark: createSecret(),
      owner: owner ?? record.owner,
    };
    await mine.store.create(other);
    expect((await mine.service.list(10)).map((one) => one.record.process_id)).toEqual([record.process_id]);
    const message: unknown = expect.stringContaining('another server');
    await expect(mine.service.kill(other.process_id, 'SIGTERM')).rejects.toMatchObject({
      code: 'PROCESS_NOT_RUNNING',
      message,
    });
  });

  test('a record that nobody can read stops no other', async () => {
    const { sh, store, service, statePath } = await openProcesses();
    await sh('echo fine');
    const folder = join(statePath, 'processes', createProcessId());
    await mkdir(folder);
    await writeFile(join(folder, 'record.json'), '{"version": 99');
    expect(await service.list(10)).toHaveLength(1);
    expect(await readdir(store.path)).toHaveLength(2);
  });
});
