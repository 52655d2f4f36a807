import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/base/clock.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { nextEvent } from '../../../src/base/lifecycle.js';
import type { ExitStatus } from '../../../src/pty/exit-status.js';
import { PtyManager } from '../../../src/pty/pty-manager.js';
import type { TerminalOptions } from '../../../src/pty/child.js';
import { ReadChild } from '../../harness/read-child.js';
import { realPid } from '../../harness/real-pid.js';
import { tempFolder } from '../../harness/temp-folder.js';

const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color', LANG: 'C.UTF-8' };
let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
});

describe('a program in a terminal', () => {
  let manager: PtyManager;
  const start = (options: Partial<TerminalOptions> & { readonly command: readonly string[] }) => {
    const size = { columns: 80, rows: 24 };
    return ReadChild.start((sink) =>
      manager.spawn({ cwd: folder, env, size, shell: '/bin/sh', sink, ...options }),
    );
  };
  const sh = (text: string, options: Partial<TerminalOptions> = {}) =>
    start({ command: ['/bin/sh', '-c', text], ...options });

  beforeEach(() => {
    manager = new PtyManager({ clock: systemClock });
  });
  afterEach(async () => {
    manager.dispose();
    await manager.whenClosed();
  });

  it.each([
    ['0', { code: 0 }],
    ['127', { code: 127 }],
    ['255', { code: 255 }],
    ['143', { signal: 'SIGTERM' }],
  ])('an exit with %s is told as it was', async (code, expected) => {
    expect((await outcome(await sh(`exit ${code}`))).exit).toEqual(expected);
  });

  it.each(['INT', 'SEGV'])('an end by %s is reported as that signal', async (signal) => {
    const { exit, output } = await outcome(
      await sh(`ulimit -c 0; printf before; kill -${signal} $$; sleep 60`),
    );
    expect(exit).toEqual({ signal: `SIG${signal}` });
    expect(output).toBe('before');
  });

  it.each(['dash', 'bash'])('the wrapper works in %s', async (shell) => {
    const { output, exit } = await outcome(await sh('printf out; printf err >&2; exit 9', { shell }));
    expect(output).toBe('outerr');
    expect(exit).toEqual({ code: 9 });
  });

  it('reads its stdin from a file whose name a shell would trip over', async () => {
    const stdinFile = join(folder, '-it\'s "$(touch x)" `y`\n.md');
    await writeFile(stdinFile, 'from the file');
    const { output } = await outcome(
      await sh('cat; test -t 0 || printf " no-tty"; test -t 1 && printf " tty"', { stdinFile }),
    );
    expect(output).toBe('from the file no-tty tty');
  });

  it('gets its arguments, directory, size and environment as they were given', async () => {
    const argument = '$(touch x) "quoted" \'single\' `tick`\nnewline ünïcödé';
    const session = await start({
      command: [
        process.execPath,
        '-e',
        'console.log(JSON.stringify([process.argv[1], process.cwd(), process.stdout.columns, process.stdout.rows, process.env.MARK]))',
        argument,
      ],
      env: { ...env, MARK: 'a b' },
      size: { columns: 91, rows: 17 },
    });
    const { output } = await outcome(session);
    expect(JSON.parse(output)).toEqual([argument, folder, 91, 17, 'a b']);
  });

  it.each([
    [['no-such-program-anywhere'], 'is not on PATH'],
    [['/no/such/program'], 'does not exist'],
    [['/etc/passwd'], 'is not an executable file'],
    [['/bin/echo', 'a\0b'], 'holds a NUL byte'],
    [['/bin/echo', 'x'.repeat(200_000)], 'is longer than 128 KiB'],
  ])('%j is refused before anything is started', async (command, words) => {
    await expect(start({ command })).rejects.toMatchObject({
      code: 'TASK_START_FAILED',
      message: expect.stringContaining(words) as string,
    });
  });

  it('is found in no part of PATH that the working directory could be', async () => {
    for (const PATH of ['bin', './bin', '../bin', '.', ''])
      await expect(start({ command: ['sh'], cwd: '/usr', env: { PATH } })).rejects.toThrow(
        /"sh" cannot be started: it is not on PATH/,
      );
  });

  it('a missing directory is refused before anything is started', async () => {
    await expect(sh('exit', { cwd: join(folder, 'missing') })).rejects.toThrow('is not a directory');
  });

  it('cannot forge its own end', async () => {
    const { output, exit } = await outcome(
      await sh(String.raw`printf '\033]6973;0123456789abcdef0123456789abcdef;0\007 still here'; exit 5`),
    );
    expect(output).toContain('\x1b]6973;0123456789abcdef0123456789abcdef;0\x07 still here');
    expect(exit).toEqual({ code: 5 });
  });

  it('what a background process printed before the end is delivered, and the end is not held up by it', async () => {
    const { output, exit } = await outcome(
      await sh('(trap "" HUP; printf bg; sleep 30) & sleep 0.2; printf fg; exit 0'),
    );
    expect(output).toBe('bgfg');
    expect(exit).toEqual({ code: 0 });
  });

  it('a wrapper killed with SIGKILL still gives an end', async () => {
    const session = await sh('printf ready; exec sleep 60');
    await printed(session, 'ready');
    const end = outcome(session);
    process.kill(realPid(session.pid), 'SIGKILL');
    expect((await end).exit).toEqual({ signal: 'SIGKILL' });
  });

  it('a megabyte typed into a raw terminal with a slow reader arrives whole', async () => {
    const text = Array.from({ length: 16_384 }, (_, line) => `${line} `.padEnd(64, 'x')).join('');
    const session = await sh('stty raw -echo; printf ready; sleep 0.5; head -c 1048576 | cksum');
    await printed(session, 'ready');
    const end = outcome(session);
    expect(session.write(text)).toBe(true);
    await writeFile(join(folder, 'megabyte'), text);
    const expected = (await outcome(await start({ command: ['cksum', 'megabyte'] }))).output;
    expect((await end).output.trim()).toBe(expected.replace('megabyte', '').trim());
  });

  it('input that a stopped program does not read stops nobody else', async () => {
    const session = await sh('stty raw -echo; printf ready; kill -STOP $$; head -c 300000 | wc -c');
    await printed(session, 'ready');
    const end = outcome(session);
    session.write('x'.repeat(300_000));
    expect(session.write(new Uint8Array(8 * 1024 * 1024))).toBe(false);
    await sleep(systemClock, 50);
    process.kill(-Number(realPid(session.pid)), 'SIGCONT');
    expect((await end).output).toContain('300000');
    expect(session.write('late')).toBe(false);
  });

  it('disposing ends the program and tells the end', async () => {
    const session = await sh('printf ready; sleep 60');
    await printed(session, 'ready');
    session.pause();
    session.dispose();
    session.dispose();
    expect(await session.exited).toEqual({ signal: 'SIGKILL' });
  });
});

async function outcome(session: ReadChild): Promise<{ output: string; exit: ExitStatus }> {
  const chunks: Buffer[] = [];
  session.onData((data) => chunks.push(Buffer.from(data)));
  const exit = await session.exited;
  return { output: Buffer.concat(chunks).toString(), exit };
}

async function printed(session: ReadChild, words: string): Promise<void> {
  let seen = '';
  await nextEvent(session.onData, (data) => (seen += data.toString()).includes(words));
}
