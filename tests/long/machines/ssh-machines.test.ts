import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { realPid } from '../../harness/real-pid.js';
import type { SshMachine } from '../../harness/ssh-machines.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { until } from '../../harness/until.js';
import { commandLines, describeMachines, sharedMachines } from './shared-machines.js';

const checkout = join(import.meta.dirname, '..', '..', '..');

/** What a program prints over ssh. */
async function overSsh({ command }: SshMachine, words: string): Promise<string> {
  const [program = '', ...args] = command;
  const { stdout } = await promisify(execFile)(program, ['-o', 'ConnectTimeout=3', ...args, words]);
  return stdout.trim();
}

describeMachines('machines of the tests', (claude) => {
  const machines = sharedMachines({ claude, count: 2 });

  it('have host name, home, processes and network of their own, and the API within reach', async () => {
    const facts =
      'hostname; pwd; whoami; claude-code-bridge --version; ps ax | wc -l; curl -sI "$ANTHROPIC_BASE_URL"';
    for (const machine of machines().all) {
      const [host, home, user, version, processes, api] = (await overSsh(machine, facts)).split('\n');
      expect([host, home, user, api?.trim()]).toEqual([machine.name, '/home/dev', 'dev', 'HTTP/1.1 200 OK']);
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(Number(processes)).toBeLessThan(20);
      expect(await machine.exec(['hostname'])).toBe(`${machine.name}\n`);
    }
  });

  it('are not reached with the link down or while packets are swallowed, and others are', async () => {
    const [cut, other] = [machines().machine(1), machines().machine(2)];
    for (const how of ['link', 'stall'] as const) {
      await cut.cut(how);
      await expect(overSsh(cut, 'true')).rejects.toThrow();
      expect(await overSsh(other, 'echo here')).toBe('here');
      expect(await cut.exec(['echo', 'inside'])).toBe('inside\n');
      await cut.restore();
      expect(await overSsh(cut, 'echo again')).toBe('again');
    }
  });

  it('end open connections when they are reset', async () => {
    const machine = machines().machine(1);
    const [program = '', ...args] = machine.command;
    const open = spawn(program, [...args, 'echo open; sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(open.stdout, 'data');
    const exited = once(open, 'exit');
    await machine.cut('reset');
    expect(await exited).toEqual([255, null]);
    expect(await overSsh(machine, 'echo again')).toBe('again');
  });

  it('end with the process that made them, also when it is killed, with what has left its session', async () => {
    const program = join(import.meta.dirname, 'makes-machine.ts');
    const maker = spawn(process.execPath, ['--import', 'tsx', program, claude], {
      cwd: checkout,
      // What a killed process leaves on disk.
      env: { ...process.env, TMPDIR: await tempFolder() },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(maker.stdout, 'data');
    const isThere = async (): Promise<boolean> => (await commandLines()).includes('sleep 86421');
    await until('its program runs', isThere);
    process.kill(realPid(maker.pid), 'SIGKILL');
    await until('its program has ended', async () => !(await isThere()));
  });
});
