import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isHalted } from '../../src/pty/is-halted.js';

describe('a process', () => {
  it.runIf(process.platform === 'linux')('is halted from SIGSTOP to SIGCONT', async () => {
    const child = spawn('sleep', ['60']);
    const ended = once(child, 'exit');
    const pid = child.pid ?? 0;
    expect(isHalted(pid)).toBe(false);
    process.kill(pid, 'SIGSTOP');
    await expect.poll(() => isHalted(pid)).toBe(true);
    process.kill(pid, 'SIGCONT');
    await expect.poll(() => isHalted(pid)).toBe(false);
    process.kill(pid, 'SIGKILL');
    await ended;
    expect(isHalted(pid)).toBe(false);
  });
});
