import { expect, it } from 'vitest';
import { LastServer } from '../../../src/keeper/main/last-server.js';
import { ManualClock } from '../../harness/manual-clock.js';

function counted(graceSeconds: number | undefined) {
  const clock = new ManualClock();
  const reasons: string[] = [];
  const servers = new LastServer({ clock, graceSeconds, onAlone: (reason) => reasons.push(reason) });
  return { clock, reasons, servers };
}

it('ends a task when its last server has gone for the grace time', () => {
  const { clock, reasons, servers } = counted(30);
  const one = servers.came();
  const two = servers.came();
  clock.advance(60_000);
  one.dispose();
  clock.advance(60_000);
  expect(reasons).toEqual([]);
  two.dispose();
  clock.advance(29_999);
  expect(reasons).toEqual([]);
  clock.advance(1);
  expect(reasons).toEqual([expect.stringContaining('none came back within 30 seconds')]);
});

it('a server that comes back in time keeps it', () => {
  const { clock, reasons, servers } = counted(30);
  servers.came().dispose();
  clock.advance(29_000);
  servers.came();
  clock.advance(60_000);
  expect(reasons).toEqual([]);
});

it('a server that died while it started the task is waited for, too', () => {
  const { clock, reasons } = counted(5);
  clock.advance(5_000);
  expect(reasons).toHaveLength(1);
});

it('a task that needs no server goes on without any', () => {
  const { clock, reasons, servers } = counted(undefined);
  servers.came().dispose();
  clock.advance(10_000_000);
  expect(reasons).toEqual([]);
  expect(servers.isNeeded).toBe(false);
});
