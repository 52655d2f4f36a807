import { expect, it } from 'vitest';
import type { Pid } from '../../src/os/pid.js';
import { psSource } from '../../src/os/ps-source.js';
import { sharedFinds } from '../../src/os/shared-finds.js';
import { realPid } from '../harness/real-pid.js';

it('calls of one loop iteration share one call, and each gets its own processes', async () => {
  const asked: (readonly Pid[])[] = [];
  const find = sharedFinds((pids) => {
    asked.push(pids);
    return psSource.find(pids);
  });
  const [own, parent] = [realPid(process.pid), realPid(process.ppid)];
  const found = await Promise.all([find([own]), find([parent]), find([parent, own]), find([])]);
  expect(found.map((list) => list.map(({ pid }) => pid).toSorted())).toEqual([
    [own],
    [parent],
    [own, parent].toSorted(),
    [],
  ]);
  expect(asked).toEqual([[own, parent]]);
  expect(await find([own])).toHaveLength(1);
  expect(asked).toHaveLength(2);
});

it('an error reaches all calls of the batch, and not the next one', async () => {
  let fails = true;
  const find = sharedFinds((pids) => (fails ? Promise.reject(new Error('ps failed')) : psSource.find(pids)));
  const own = realPid(process.pid);
  const results = await Promise.allSettled([find([own]), find([own])]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await find([own])).toHaveLength(1);
});
