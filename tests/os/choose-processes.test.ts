import { describe, expect, it } from 'vitest';
import { mayBeSignalled, selectDescendants, selectMarked } from '../../src/os/choose-processes.js';
import type { Pid } from '../../src/os/pid.js';
import type { MarkedProcess } from '../../src/os/process-info.js';
import { realPid } from '../harness/real-pid.js';
import { MARK, macTable } from './recordings.js';

const one = (
  pid: number,
  parentPid: number | undefined,
  more: Partial<MarkedProcess> = {},
): MarkedProcess => ({
  pid: realPid(pid),
  parentPid: parentPid === undefined ? undefined : realPid(parentPid),
  group: realPid(pid),
  session: realPid(pid),
  startId: String(pid),
  name: `p${pid}`,
  mark: undefined,
  ...more,
});
const mark = 'm';
const self = realPid(10);
const init = one(1, undefined);
const keeper = one(10, 1);
const wrapper = one(20, 10, { mark });
const pids = (found: readonly MarkedProcess[]): number[] => found.map(({ pid }) => pid).sort((a, b) => a - b);
const chosen = (all: readonly MarkedProcess[], pid: Pid | undefined, startedSince?: string): number[] =>
  pids(selectDescendants(all, { pid, mark, startedSince }, self));

describe('the processes of a task', () => {
  it('are the marked ones, those in the session and group of its terminal, and the descendants of all of these', () => {
    const all = [
      init,
      keeper,
      wrapper,
      one(21, 20, { session: wrapper.pid, group: wrapper.pid }),
      one(22, 1, { session: wrapper.pid }),
      one(30, 1, { mark }),
      one(31, 30),
      one(32, 31),
      one(40, 1),
      one(41, 1, { mark: 'another' }),
    ];
    expect(chosen(all, wrapper.pid)).toEqual([20, 21, 22, 30, 31, 32]);
    expect(chosen(all, undefined)).toEqual([20, 21, 30, 31, 32]);
  });

  it('do not include a stranger that reuses the pid of the terminal', () => {
    expect(chosen([init, keeper, one(20, 1), one(21, 20)], realPid(20))).toEqual([]);
  });

  it('include the first process before its exec, when it shows no mark, and what it has started', () => {
    expect(chosen([init, keeper, one(20, 10), one(21, 20), one(22, 10)], realPid(20))).toEqual([20, 21]);
    const marked = one(10, 1, { mark: 'own' });
    expect(chosen([init, marked, one(20, 10, { mark: 'own' })], realPid(20))).toEqual([20]);
    expect(chosen([init, marked, one(20, 10, { mark: 'another' })], realPid(20))).toEqual([]);
  });

  it('do not include this process and its ancestors, though they carry the mark, nor what descends from these alone', () => {
    const all = [init, one(5, 1, { mark }), one(6, 5), one(10, 5, { mark }), one(11, 10), wrapper];
    expect(chosen(all, wrapper.pid)).toEqual([20]);
    expect(chosen(all, self)).toEqual([20]);
  });

  it('do not include what started before the task, even if it matches otherwise', () => {
    const all = [
      init,
      keeper,
      one(20, 10, { mark, startId: '500' }),
      one(21, 20, { startId: '499' }),
      one(22, 1, { mark, startId: '499' }),
      one(23, 1, { group: realPid(20), startId: '499' }),
    ];
    expect(chosen(all, realPid(20), '500')).toEqual([20]);
  });

  it('do not include what a debugger of the task is attached to: it is older than its new parent', () => {
    expect(chosen([init, keeper, wrapper, one(12, 20)], wrapper.pid)).toEqual([20]);
  });

  it('do not include processes whose group, session and parent are unknown', () => {
    const unknown = { group: undefined, session: undefined };
    const all = [init, one(10, 1, unknown), one(20, 1, { ...unknown, mark }), one(21, undefined, unknown)];
    expect(chosen(all, undefined)).toEqual([20]);
    expect(chosen(all, realPid(20))).toEqual([20]);
  });

  it('are none for an empty mark, which a program may carry', () => {
    expect(selectDescendants([init, one(20, 1, { mark: '' })], { mark: '' }, self)).toEqual([]);
  });
});

describe('in a recording of a Mac', () => {
  const all = macTable();
  const startedSince = 'Mon Nov 2 09:05:00 2026';
  const keeperPid = realPid(2_101);

  it('the whole task is found by its terminal', () => {
    const found = selectDescendants(all, { pid: realPid(2_110), mark: MARK, startedSince }, keeperPid);
    expect(pids(found)).toEqual([2_110, 2_111, 2_112, 2_113, 2_140, 2_141]);
  });

  it('without a terminal only marked processes and their descendants are found', () => {
    const left = all.filter(({ pid }) => ![2_110, 2_111, 2_112, 2_113].includes(pid));
    expect(pids(selectDescendants(left, { mark: MARK }, keeperPid))).toEqual([2_140, 2_141]);
    expect(pids(selectMarked(left, new Set([MARK]), keeperPid))).toEqual([2_140]);
  });

  it('nothing is found for another task', () => {
    expect(selectDescendants(all, { pid: realPid(2_110), mark: 'f'.repeat(16) }, keeperPid)).toEqual([]);
    expect(selectMarked(all, new Set(['f'.repeat(16)]), keeperPid)).toEqual([]);
  });

  it('neither the first process nor the keeper and its ancestors may be signalled', () => {
    const allowed = mayBeSignalled(all, keeperPid).map(({ pid }) => Number(pid));
    expect(allowed).not.toContain(1);
    expect(allowed).not.toContain(2_101);
    expect(allowed).toContain(2_111);
  });
});
