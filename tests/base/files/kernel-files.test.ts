import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { KernelFiles } from '../../../src/base/files/kernel-files.js';

const LARGE_CHARS = 100_000;

it.runIf(process.platform === 'linux')(
  'reads what the kernel tells of a process, however much that is',
  async () => {
    const child = spawn('sh', ['-c', 'echo started; read -r line'], {
      env: { PATH: process.env['PATH'], LARGE: 'x'.repeat(LARGE_CHARS) },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    // Until it waits for its line the kernel tells something else at each look.
    await expect.poll(() => readFileSync(`/proc/${child.pid}/stat`, 'latin1')).toMatch(/\) S /);
    const files = new KernelFiles();
    for (const name of ['stat', 'environ', 'cmdline']) {
      const path = `/proc/${child.pid}/${name}`;
      expect(files.read(path)).toBe(readFileSync(path, 'latin1'));
    }
    expect(files.read(`/proc/${child.pid}/environ`)).toContain(`LARGE=${'x'.repeat(LARGE_CHARS)}\0`);
    child.stdin.end();
    await once(child, 'exit');
    expect(() => files.read(`/proc/${child.pid}/stat`)).toThrow(/ENOENT/);
  },
);
