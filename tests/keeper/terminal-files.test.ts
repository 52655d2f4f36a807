import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { TerminalFiles } from '../../src/keeper/terminal-files.js';
import type { PtySession } from '../../src/pty/pty-session.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terminal-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A terminal that is only held back and let go on. */
const session: PtySession = {
  pid: undefined,
  onData: () => ({ dispose: () => undefined }),
  onExit: () => ({ dispose: () => undefined }),
  exited: Promise.resolve({ exitCode: 0, signal: null }),
  write: () => true,
  resize: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  dispose: () => undefined,
};

it('a recording that is rotated begins with what is shown then, the first one with its own output', async () => {
  const path = join(folder, 'terminal.cast');
  const terminal = new TerminalFiles({
    path,
    maxBytes: 8_000,
    clock: systemClock,
    onError: (fault) => {
      throw fault;
    },
  });
  let shown = 'not yet asked';
  terminal.stateFrom(() => shown);
  terminal.output(Buffer.from('first'), session);
  shown = 'the screen';
  expect((await castOf(path, terminal))[1]).toContain('"first"');
  for (let line = 0; line < 60; line++)
    terminal.output(Buffer.from(`${line} ${'x'.repeat(80)}\r\n`), session);
  expect((await castOf(path, terminal))[1]).toContain('"the screen"');
  await terminal.close();
});

async function castOf(path: string, terminal: TerminalFiles): Promise<string[]> {
  await terminal.write();
  return (await readFile(path, 'utf8')).split('\n');
}
