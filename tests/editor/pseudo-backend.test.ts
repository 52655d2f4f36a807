import { spawn } from '@lydell/node-pty';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { nextEvent } from '../../src/base/event.js';
import { PseudoBackend } from '../../vscode/src/terminals/pseudo-backend.js';

const shells = ['/bin/sh', '/bin/bash'];

async function opened(
  shell: string,
): Promise<{ backend: PseudoBackend; output: () => string; shown: () => string }> {
  const backend = new PseudoBackend({
    spawn: (program, args, options) => spawn(program, [...args], options),
    clock: systemClock,
    shell,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', TMPDIR: process.env['TMPDIR'] ?? '/tmp' },
    size: undefined,
    message: 'Made by tester',
  });
  let output = '';
  let shown = '';
  backend.onOutput((text) => (output += text));
  backend.onDidWrite((text) => (shown += text));
  const closed = new Promise((resolve) => backend.onDidClose(resolve));
  onTestFinished(async () => {
    backend.close();
    await closed;
    backend.dispose();
  });
  backend.open({ columns: 90, rows: 20 });
  await backend.ready();
  return {
    backend,
    shown: () => shown,
    output: () => {
      const taken = output;
      output = '';
      return taken;
    },
  };
}

describe.each(shells)('a terminal of the extension with %s', (shell) => {
  test('gives the output of each command, and its code', async () => {
    const { backend, output, shown } = await opened(shell);
    expect(await backend.run('echo one; echo two >&2; (exit 9)').ended).toBe(9);
    expect(output()).toBe('one\ntwo\n');
    expect(await backend.run('for i in 1 2\ndo\n\techo "$i \'x\'"\ndone').ended).toBe(0);
    expect(output()).toBe("1 'x'\n2 'x'\n");
    expect(shown()).not.toContain('633;');
    expect(shown()).not.toContain('eval');
    expect(shown()).toContain('Made by tester');
  });

  test('takes a command that is longer than a line of a terminal', async () => {
    const { backend, output } = await opened(shell);
    const text = `ä'${'x'.repeat(9_000)}`;
    expect(await backend.run(`echo "${text}"`).ended).toBe(0);
    expect(output()).toBe(`${text}\n`);
  });

  test('ends a command with an error in its syntax, and one that is interrupted', async () => {
    const { backend, output } = await opened(shell);
    expect(await backend.run('if true; then').ended).not.toBe(0);
    expect(output()).not.toBe('');
    // bash loses the terminal when it is interrupted while it starts a program: this one says that it has started.
    const started = nextEvent(backend.onOutput, (text) => text.includes('started'));
    const command = backend.run("sh -c 'echo started; exec sleep 600'");
    await started;
    backend.type('\u0003');
    expect(await command.ended).toBe(130);
    expect(await backend.run('true').ended).toBe(0);
  });

  test('has the size that a program chose, whatever room there is', async () => {
    const { backend, output } = await opened(shell);
    await backend.run('stty size').ended;
    expect(output()).toBe('20 90\n');
    backend.resize({ columns: 77, rows: 11 });
    backend.setSize({ columns: 100, rows: 50 });
    await backend.run('stty size').ended;
    expect(output()).toBe('11 77\n');
  });
});
