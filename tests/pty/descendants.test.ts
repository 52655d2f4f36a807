import { expect, it } from 'vitest';
import { selectDescendants } from '../../src/pty/descendants.js';
import { parseProcStat, parsePs, type ListedProcess } from '../../src/pty/list-processes.js';

const one = (pid: number, parentPid: number, more: Partial<ListedProcess> = {}): ListedProcess => ({
  pid,
  parentPid,
  group: pid,
  session: pid,
  startId: String(pid),
  name: `p${pid}`,
  isMarked: false,
  ...more,
});
const pids = (all: readonly ListedProcess[], pid: number, self: number) =>
  selectDescendants(all, pid, self)
    .map((each) => each.pid)
    .sort((a, b) => a - b);

const keeper = one(10, 1);
const wrapper = one(20, 10, { isMarked: true });

it('the marked, the terminal’s session and group, and the descendants of all of these belong to a task', () => {
  const all = [
    one(1, 0),
    keeper,
    wrapper,
    one(21, 20, { session: 20, group: 20 }),
    one(22, 1, { session: 20, group: 22 }),
    one(30, 1, { isMarked: true }),
    one(31, 30),
    one(32, 31),
    one(40, 1),
  ];
  expect(pids(all, 20, 10)).toEqual([20, 21, 22, 30, 31, 32]);
});

it('a stranger who was given the terminal’s pid is left alone', () => {
  expect(pids([one(1, 0), keeper, one(20, 1), one(21, 20)], 20, 10)).toEqual([]);
});

it('the looking process and its ancestors are never chosen, though they carry the mark', () => {
  const all = [one(1, 0), one(5, 1, { isMarked: true }), one(10, 5, { isMarked: true }), wrapper];
  expect(pids(all, 20, 10)).toEqual([20]);
});

it('a name with spaces, parentheses and newlines does not confuse the reader of /proc', () => {
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

it('the output of ps is read, zombies left out', () => {
  const output = [
    '    1     0     1 Ss   Mon Nov  2 08:00:01 2026 /sbin/launchd',
    '  501     1   501 S+   Mon Nov  2 08:12:31 2026 node server.js HOME=/h CLAUDE_CODE_BRIDGE_MARK=abc TERM=x',
    '  502   501   501 S    Mon Nov  2 08:12:32 2026 sleep 60 CLAUDE_CODE_BRIDGE_MARK=abcd',
    '  503   501   501 Z    Mon Nov  2 08:12:33 2026 (sleep)',
    '',
  ].join('\n');
  const found = parsePs(output, 'abc').map(({ pid, parentPid, group, name, isMarked, startId }) => [
    pid,
    parentPid,
    group,
    name,
    isMarked,
    startId,
  ]);
  expect(found).toEqual([
    [1, 0, 1, '/sbin/launchd', false, 'Mon Nov  2 08:00:01 2026'],
    [501, 1, 501, 'node', true, 'Mon Nov  2 08:12:31 2026'],
    [502, 501, 501, 'sleep', false, 'Mon Nov  2 08:12:32 2026'],
  ]);
});
