import { readdir, readlink, rm } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/system-clock.js';
import { createProcessId } from '../../../../src/base/ids.js';
import { PtyManager } from '../../../../src/pty/pty-manager.js';
import { HostBackend, type HostBackendOptions } from '../../../../src/processes/host/host-backend.js';
import { describeProcessBackend } from '../../../contracts/process-backend.js';
import { describeEnds } from '../../../contracts/process-backend/ends.js';
import { describeInput } from '../../../contracts/process-backend/input.js';
import { describeOutput } from '../../../contracts/process-backend/output.js';
import {
  Collector,
  run,
  start,
  type BackendFacts,
  type BackendUnderTest,
} from '../../../contracts/process-backend/under-test.js';
import { programsOnPath } from '../../../harness/programs-on-path.js';
import { atFullLength, rounds } from '../../../harness/rounds.js';
import { until } from '../../../harness/until.js';
import { tempFolder } from '../../../harness/temp-folder.js';

async function open({
  hasPipes = true,
  ...rest
}: { hasPipes?: boolean } & Partial<HostBackendOptions> = {}): Promise<BackendUnderTest> {
  const cwd = await tempFolder();
  const terminals = new PtyManager({ clock: systemClock });
  const backend = new HostBackend({
    clock: systemClock,
    terminals: async () => terminals,
    shell: '/bin/sh',
    killGraceMs: 500,
    pipeFolder: hasPipes ? cwd : undefined,
    ...rest,
  });
  onTestFinished(async () => {
    await backend.dispose();
    terminals.dispose();
    await terminals.whenClosed();
  });
  const path = process.env['PATH'] ?? '';
  return {
    backend,
    spec: (command, options = {}) => ({
      id: createProcessId(),
      command,
      cwd: options.cwd ?? cwd,
      env: { PATH: path, LANG: 'C.UTF-8', TERM: 'xterm-256color', HOME: cwd, ...options.env },
      ...(options.tty && { tty: options.tty }),
    }),
  };
}

const facts: BackendFacts = {
  programs: programsOnPath(),
  leavesBehind: true,
  many: rounds(20),
  exits: rounds(100),
  sideBySide: false,
};

describeProcessBackend('host', facts, () => open());

if (atFullLength)
  describe('a process backend: host, with the pipes that Node makes', () => {
    const openWithout = () => open({ hasPipes: false });
    describeEnds(facts, openWithout);
    describeInput(facts, openWithout);
    describeOutput(facts, openWithout);
  });

describe.runIf(process.platform === 'linux')('the outputs of a process of this machine', () => {
  it('are opened again by name', async () => {
    const { exit, output } = await run(await open(), 'echo one >/dev/stdout; echo two >/dev/stderr');
    expect(exit.code).toBe(0);
    expect(output.text('stdout')).toBe('one\n');
    expect(output.text('stderr')).toBe('two\n');
  });

  it('leave no file and no open pipe behind', async () => {
    const test = await open();
    const { cwd } = test.spec(['true']);
    await run(test, 'true');
    expect(await readdir(cwd)).toEqual([]);
    await Promise.all(Array.from({ length: 3 }, () => run(test, 'echo some; echo more >&2; exit 1')));
    const refused = test.backend.spawn(test.spec(['no-such-program-anywhere']), new Collector());
    await expect(refused).rejects.toMatchObject({ code: 'PROGRAM_NOT_FOUND' });
    await until('no pipe is open', async () => expect(await openPipes()).toEqual([]));
    expect(await readdir(cwd)).toEqual([]);
  });

  it('are those that Node makes where no other can be had', async () => {
    const test = await open();
    const { cwd } = test.spec(['true']);
    await rm(cwd, { recursive: true });
    const { output } = await start(test, 'echo all the same', { cwd: '/' });
    await output.has('all the same');
  });
});

/** Descriptors of named pipes that this program holds. */
async function openPipes(): Promise<string[]> {
  const targets = (await readdir('/proc/self/fd')).map((fd) =>
    readlink(`/proc/self/fd/${fd}`).catch(() => ''),
  );
  return (await Promise.all(targets)).filter((target) => /\/pipes-\w+\/std/.test(target));
}
