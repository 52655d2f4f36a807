import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { isHalted } from '../../src/os/is-halted.js';
import { realPid } from '../harness/real-pid.js';

it('a process is halted from SIGSTOP to SIGCONT', async () => {
  const child = spawn('sleep', ['60']);
  const ended = once(child, 'exit');
  const pid = realPid(child.pid);
  expect(await isHalted(pid)).toBe(false);
  process.kill(pid, 'SIGSTOP');
  await expect.poll(() => isHalted(pid)).toBe(true);
  process.kill(pid, 'SIGCONT');
  await expect.poll(() => isHalted(pid)).toBe(false);
  process.kill(pid, 'SIGKILL');
  await ended;
  expect(await isHalted(pid)).toBe(false);
});
