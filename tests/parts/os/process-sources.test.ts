import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSecret } from '../../../src/base/ids.js';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';
import { pidOf } from '../../../src/os/pid.js';
import { parseProcStat, procSource } from '../../../src/os/proc-source.js';
import { startedBefore } from '../../../src/os/process-info.js';
import { parsePs, psSource } from '../../../src/os/ps-source.js';
import { realPid } from '../../harness/real-pid.js';
import { MARK, macPs, macRows, macTable } from '../../os/recordings.js';

const sources = process.platform === 'linux' ? [procSource, psSource] : [psSource];

describe.each(sources.map((source) => [source.kind, source] as const))('the table of %s', (_kind, source) => {
  /** A program behind a shell, with a mark in its environment. */
  async function startMarked(mark: string) {
    const script = `exec ${process.execPath} -e "console.log('up'); setInterval(() => 0, 1000)" ${MARK_VARIABLE}=of-the-arguments`;
    const child = spawn('/bin/sh', ['-c', script], {
      env: { NOTE: 'a b', [MARK_VARIABLE]: mark, LAST: 'x y' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const exited = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    await once(child.stdout, 'data');
    return { pid: realPid(child.pid), child, exited };
  }

  it('shows a process with its parent, its group, the session that it leads, and its mark', async () => {
    const mark = createSecret();
    const { pid } = await startMarked(mark);
    const found = (await source.markedTable()).find((one) => one.pid === pid);
    expect(found).toMatchObject({
      pid,
      parentPid: process.pid,
      group: pid,
      session: pid,
      mark,
    });
    expect((await source.table()).find((one) => one.pid === pid)).toMatchObject({ startId: found?.startId });
    expect(await source.find([pid])).toMatchObject([{ pid, startId: found?.startId }]);
    expect((await source.lineage(pid)).slice(0, 2)).toMatchObject([{ pid, mark }, { pid: process.pid }]);
    expect(await source.commandLines()).toContain(`${MARK_VARIABLE}=of-the-arguments`);
  });

  it('shows no process that has ended', async () => {
    const { pid, child, exited } = await startMarked(createSecret());
    child.kill('SIGKILL');
    await exited;
    expect(await source.find([pid])).toEqual([]);
    expect((await source.table()).map((one) => one.pid)).not.toContain(pid);
  });

  it('has no process with the number 0, and none whose parent, group or session is 0', async () => {
    const numbers = (await source.table()).flatMap(({ pid, parentPid, group, session }) => [
      pid,
      parentPid ?? pid,
      group ?? pid,
      session ?? pid,
    ]);
    expect(numbers.filter((number) => !(number > 0))).toEqual([]);
  });
});

describe('a number', () => {
  it.each([0, -1, -7, 1.5, Number.NaN, Infinity, 2 ** 31, undefined, '', ' ', '0', '-1', 'x', '1e9999'])(
    '%s is no pid',
    (value) => expect(pidOf(value)).toBeUndefined(),
  );

  it.each([1, 42, 4_194_304, '42'])('%s is one', (value) => expect(pidOf(value)).toBe(Number(value)));
});

describe('a start', () => {
  it('can only be compared with one from the same source', () => {
    expect(startedBefore('900', '1000')).toBe(true);
    expect(startedBefore('1000', '1000')).toBe(false);
    expect(startedBefore('Mon Nov 2 08:00:09 2026', 'Mon Nov 2 08:00:10 2026')).toBe(true);
    expect(startedBefore('Tue Nov 3 08:00:09 2026', 'Mon Nov 2 08:00:10 2026')).toBe(false);
    expect(startedBefore('900', 'Mon Nov 2 08:00:10 2026')).toBe(false);
    expect(startedBefore('Mon Nov 2 08:00:10 2026', '900')).toBe(false);
    expect([startedBefore('x', 'y'), startedBefore('x', '1'), startedBefore('1', 'x')]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('/proc', () => {
  it('is parsed after a name with spaces, brackets and newlines', () => {
    const rest = 'S 7 42 42 34816 42 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0';
    expect(parseProcStat(`42 (a) b (c\n) ${rest}`)).toEqual({
      pid: 42,
      parentPid: 7,
      group: 42,
      session: 42,
      startId: '987654',
      name: 'a) b (c\n',
    });
    expect(parseProcStat(`42 (gone) ${rest.replace('S', 'Z')}`)).toBeUndefined();
    expect(parseProcStat('')).toBeUndefined();
  });

  it('shows 0 for what is in another pid namespace, and the table shows nothing', () => {
    const inContainer = parseProcStat(
      '950 (bash) S 0 0 0 0 -1 4194560 0 0 0 0 1 5 2 2 20 0 1 0 50100 1000 10',
    );
    expect(inContainer).toMatchObject({ parentPid: undefined, group: undefined, session: undefined });
  });
});

describe('ps', () => {
  it('is parsed without zombies and without the kernel, whose pid is 0', () => {
    const found = parsePs(macPs(macRows, false));
    expect(found).toHaveLength(macRows.length - 2);
    expect(found.find(({ pid }) => pid === 640)).toEqual({
      pid: 640,
      parentPid: 1,
      group: 640,
      session: undefined,
      startId: 'Mon Nov 2 08:02:11 2026',
      name: 'Mail',
    });
    expect(found.find(({ pid }) => pid === 1)?.parentPid).toBeUndefined();
  });

  it('reports the session only of processes that lead one', () => {
    const found = parsePs(macPs(macRows, false));
    expect(found.filter(({ pid, session }) => session !== undefined && session !== pid)).toEqual([]);
    expect(found.find(({ pid }) => pid === 2_110)?.session).toBe(2_110);
    expect(found.find(({ pid }) => pid === 2_111)?.session).toBeUndefined();
  });

  it('shows the marks in environments, and none for a command line that holds one', () => {
    expect(
      macTable()
        .filter(({ mark }) => mark !== undefined)
        .map(({ pid, mark }) => [Number(pid), mark]),
    ).toEqual([
      [2_111, MARK],
      [2_113, MARK],
      [2_140, MARK],
    ]);
  });
});
