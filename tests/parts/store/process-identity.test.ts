import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { psSource } from '../../../src/os/ps-source.js';
import {
  identityOf,
  machineIdInIoreg,
  ownIdentity,
  processState,
} from '../../../src/store/process-identity.js';
import { placeOf } from '../../../src/store/process-place.js';

function firstText(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => stream.once('data', (chunk: Buffer) => resolve(chunk.toString())));
}

async function withChild(work: (pid: number, end: () => Promise<void>) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = once(child, 'exit');
  await once(child, 'spawn');
  try {
    await work(child.pid ?? 0, async () => {
      child.stdin.end();
      await exited;
    });
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

describe('process identity', () => {
  test('a process has the same identity until it ends', async () => {
    await withChild(async (pid, end) => {
      const identity = await identityOf(pid);
      if (identity === undefined) throw new Error('the child has no identity');
      expect(identity.start_time).not.toBeNull();
      expect(await processState(identity)).toBe('alive');
      await end();
      expect(await processState(identity)).toBe('gone');
      expect(await identityOf(pid)).toBeUndefined();
    });
  });

  test('the same pid with another start time or from another boot is another process', async () => {
    const own = await ownIdentity();
    expect(await processState({ ...own, start_time: '1' })).toBe('gone');
    const known = { ...own, machine_id: undefined, namespace: undefined };
    expect(await processState({ ...known, boot_id: 'before the reboot' })).toBe('gone');
    expect(await processState(own)).toBe('alive');
  });

  test('a pid of another pid namespace or machine is unknown, whatever has that pid here', async () => {
    const own = await ownIdentity();
    for (const pid of [process.pid, 2 ** 22 - 1]) {
      const there = { ...own, pid, namespace: 'pid:[1]' };
      expect(await processState(there)).toBe('unknown');
      const machine = { ...own, pid, boot_id: 'other', machine_id: 'other' };
      expect(await processState(machine)).toBe('unknown');
    }
  });

  const here = { pid: 7, start_time: '1', boot_id: 'b', machine_id: 'm', namespace: 'n' };
  test.each([
    { is: 'here', with: 'everything the same', facts: {} },
    { is: 'here', with: 'another machine id in the same boot and namespace', facts: { machine_id: 'x' } },
    { is: 'here', with: 'no namespace, as an older bridge wrote it', facts: { namespace: undefined } },
    { is: 'elsewhere', with: 'another namespace', facts: { namespace: 'x' } },
    { is: 'elsewhere', with: 'an unknown namespace', facts: { namespace: null } },
    { is: 'restarted', with: 'another boot of this machine', facts: { boot_id: 'x', namespace: 'x' } },
    { is: 'elsewhere', with: 'another boot of another machine', facts: { boot_id: 'x', machine_id: 'x' } },
    {
      is: 'elsewhere',
      with: 'another boot of a machine without id',
      facts: { boot_id: 'x', machine_id: null },
    },
    { is: 'elsewhere', with: 'an unknown boot', facts: { boot_id: null } },
  ])('an identity with $with is $is', ({ is, facts }) => {
    expect(placeOf({ ...here, ...facts }, here)).toBe(is);
  });

  test('reads the id of a Mac', () => {
    const answer =
      '+-o J316sAP  <class IOPlatformExpertDevice>\n    {\n      "IOPlatformSerialNumber" = "C02"\n      "IOPlatformUUID" = "0A1B2C3D-0000-1111-2222-333344445555"\n    }\n';
    expect(machineIdInIoreg(answer)).toBe('0A1B2C3D-0000-1111-2222-333344445555');
    expect(machineIdInIoreg('')).toBeNull();
  });

  test('without a start time its state is unknown', async () => {
    const own = await ownIdentity();
    expect(await processState({ ...own, start_time: null })).toBe('unknown');
  });

  test.runIf(process.platform === 'linux')('a zombie has ended', async () => {
    // The shell starts a child, then becomes a program that never asks for its end.
    const shell = spawn('/bin/sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(shell, 'exit');
    try {
      const pid = Number(await firstText(shell.stdout));
      await expect
        .poll(async () => (await readFile(`/proc/${pid}/stat`, 'latin1')).includes(') Z '))
        .toBe(true);
      expect(await identityOf(pid)).toBeUndefined();
    } finally {
      shell.kill('SIGKILL');
      await exited;
    }
  });

  test('asks ps where there is no /proc', async () => {
    const identity = await identityOf(process.pid, psSource);
    expect(identity?.pid).toBe(process.pid);
    expect(identity?.start_time).toMatch(/^\w{3} \w{3} \d+ [\d:]{8} \d{4}$/);
    await withChild(async (pid, end) => {
      await end();
      expect(await identityOf(pid, psSource)).toBeUndefined();
    });
  });
});
