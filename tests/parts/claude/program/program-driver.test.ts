import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/system-clock.js';
import { createSecret } from '../../../../src/base/ids.js';
import { ProgramDriver, type ProgramDriverOptions } from '../../../../src/claude/program/program-driver.js';
import type { SessionEvent } from '../../../../src/claude/session.js';
import { killTree } from '../../../../src/pty/kill-ladder.js';
import { PtyManager } from '../../../../src/pty/pty-manager.js';
import { EventLog } from '../../../harness/event-log.js';
import { killMarked } from '../../../harness/marked-processes.js';
import { ManualClock } from '../../../harness/manual-clock.js';
import { pass } from '../../../claude/pass-time.js';
import { ScriptedPty } from '../../../claude/scripted-pty.js';
import { tempFolder } from '../../../harness/temp-folder.js';

const PATTERNS = ['Continue\\?', '\\[y/N\\]'];

function shared(): Pick<ProgramDriverOptions, 'cwd' | 'env' | 'shell' | 'patterns' | 'onBytes'> {
  return {
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin', TERM: 'xterm-256color' },
    shell: '/bin/sh',
    patterns: PATTERNS,
    onBytes: () => {},
  };
}

describe('a program that asks', () => {
  let clock: ManualClock;
  let pty: ScriptedPty;
  let driver: ProgramDriver;
  let events: SessionEvent[];

  beforeEach(async () => {
    clock = new ManualClock();
    pty = new ScriptedPty();
    events = [];
    driver = new ProgramDriver({
      ...shared(),
      pty,
      clock,
      command: ['/bin/agent'],
      promptFile: '/prompt.md',
      killTree: async () => pty.exit({ signal: 'SIGKILL' }),
    });
    driver.onEvent((event) => events.push(event));
    await driver.start();
  });
  afterEach(() => driver.dispose());

  const requests = () => events.flatMap((event) => (event.type === 'request' ? [event.request] : []));
  const print = async (...texts: readonly string[]) => {
    for (const text of texts) {
      pty.print(text);
      await pass(clock, 50);
    }
  };

  it('becomes a request once its prompt stops changing, with the line it shows', async () => {
    await print('Shall I? Continue? [y/N] ');
    expect(requests()).toEqual([]);
    await pass(clock, 300);
    expect(requests()).toEqual([
      {
        requestId: 'prompt-1',
        kind: 'permission',
        tool: 'terminal-prompt',
        input: { line: 'Shall I? Continue? [y/N]' },
        summary: 'Shall I? Continue? [y/N]',
        options: ['y', 'n'],
        source: 'observed',
      },
    ]);
  });

  it('a prompt that is longer than a row is asked about whole, and one that begins above the screen is not', async () => {
    const long = `rm -rf ${'x'.repeat(200)} ${'y'.repeat(60)} Continue? [y/N]`;
    await print(long);
    await pass(clock, 300);
    expect(requests()).toMatchObject([{ input: { line: long } }]);
    await driver.answer('prompt-1', { verdict: 'deny', message: 'No.' });
    await print(`\r\nrm ${'z'.repeat(120 * 45)} Continue? [y/N]`);
    await pass(clock, 300);
    expect(requests()).toHaveLength(1);
    expect(events).toContainEqual({
      type: 'notice',
      text: expect.stringContaining('begins above the screen') as unknown,
    });
  });

  it('a prompt that is repainted ten times is asked and answered once', async () => {
    await print('Continue? [y/N] ');
    await pass(clock, 300);
    await driver.answer('prompt-1', { verdict: 'allow' });
    for (let repaint = 0; repaint < 10; repaint++) {
      await print('\r\x1b[2KContinue? [y/N] ');
      await pass(clock, 300);
    }
    expect(requests()).toHaveLength(1);
    expect(pty.typed).toEqual(['y\r']);
  });

  it('the echo of the answer is not a new prompt', async () => {
    await print('Continue? [y/N] ');
    await pass(clock, 300);
    await driver.answer('prompt-1', { verdict: 'allow' });
    await print('y\r\n');
    await pass(clock, 300);
    expect(requests()).toHaveLength(1);
  });

  it('a second prompt with the same text is asked again', async () => {
    await print('Continue? [y/N] ');
    await pass(clock, 300);
    await driver.answer('prompt-1', { verdict: 'allow' });
    await print('y\r\nContinue? [y/N] ');
    await pass(clock, 300);
    await driver.answer('prompt-2', { verdict: 'allow' });
    expect(pty.typed).toEqual(['y\r', 'y\r']);
  });

  it('a denial types n', async () => {
    await print('Continue? [y/N] ');
    await pass(clock, 300);
    expect(await driver.answer('prompt-1', { verdict: 'deny', message: 'No.' })).toBe('answered');
    expect(await driver.answer('prompt-1', { verdict: 'allow' })).toBe('gone');
    expect(pty.typed).toEqual(['n\r']);
  });

  it('a prompt that goes away is reported as gone and accepts no answer', async () => {
    await print('Continue? [y/N] ');
    await pass(clock, 300);
    await print('\r\x1b[2Knever mind\r\n');
    await pass(clock, 300);
    expect(events.filter((event) => event.type === 'request-gone')).toEqual([
      { type: 'request-gone', requestId: 'prompt-1', why: 'the prompt went away' },
    ]);
    expect(await driver.answer('prompt-1', { verdict: 'allow' })).toBe('gone');
    expect(pty.typed).toEqual([]);
  });

  it('text far above the bottom is output, not a prompt', async () => {
    await print(`Continue? [y/N]\r\n${'more\r\n'.repeat(6)}`);
    await pass(clock, 300);
    expect(requests()).toEqual([]);
  });

  it('its last output is what it printed, with only the last text of an overwritten line', async () => {
    for (let piece = 0; piece < 4; piece++) await print('a line of a flood\r\n'.repeat(2_000));
    await print('\x07\x0f10 %\r20 %\r\x07100 %');
    expect(driver.lastOutput(500)).toMatch(/flood\na line of a flood\n100 %$/);
    pty.exit({ code: 0 });
    await pass(clock, 1);
    expect(driver.lastOutput(500)).toMatch(/flood\na line of a flood\n100 %$/);
    expect(events.at(-1)?.type).toBe('exited');
    const told = events.flatMap((event) => (event.type === 'output' ? [event.bytes] : []));
    expect(told.reduce((sum, bytes) => sum + bytes, 0)).toBe(
      4 * 2_000 * 19 + '\x07\x0f10 %\r20 %\r\x07100 %'.length,
    );
  });
});

describe('a real program', () => {
  let folder: string;
  let mark: string;
  let manager: PtyManager;
  let driver: ProgramDriver;
  let events: EventLog<SessionEvent>;
  let lines: string[];

  beforeEach(async () => {
    folder = await tempFolder();
    mark = createSecret();
    manager = new PtyManager({ clock: systemClock });
  });
  afterEach(async () => {
    driver.dispose();
    manager.dispose();
    await killMarked(mark);
    await manager.whenClosed();
  });

  async function run(text: string, prompt = 'the prompt'): Promise<void> {
    const promptFile = join(folder, 'prompt.md');
    await writeFile(promptFile, prompt);
    const base = shared();
    driver = new ProgramDriver({
      ...base,
      env: { ...base.env, CLAUDE_CODE_BRIDGE_MARK: mark },
      pty: manager,
      clock: systemClock,
      command: ['/bin/sh', '-c', text],
      promptFile,
      killTree: async (pid) => void (await killTree({ pid, mark, clock: systemClock })),
    });
    events = new EventLog(driver.onEvent);
    lines = [];
    driver.onEvent((event) => {
      if (event.type === 'printed') lines.push(...event.lines);
    });
    await driver.start();
  }

  it('is ended by Ctrl-C, or killed', async () => {
    await run('trap "exit 9" INT; echo ready; while :; do sleep 1; done');
    await events.next('printed');
    await driver.close();
    expect((await events.next('exited')).exit).toEqual({ code: 9 });
  });
});
