import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/system-clock.js';
import { createSecret } from '../../../../src/base/ids.js';
import { PrintDriver } from '../../../../src/claude/print/print-driver.js';
import type { SessionEvent } from '../../../../src/claude/session.js';
import { killTree } from '../../../../src/pty/kill-ladder.js';
import { EventLog } from '../../../harness/event-log.js';
import { killMarked, markedProcesses } from '../../../harness/marked-processes.js';
import { passingGuard } from '../../../harness/passing-guard.js';
import { tempFolder } from '../../../harness/temp-folder.js';

const agent = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'programs', 'scripted-agent.mjs');

describe('the print driver with a program that is not the CLI', () => {
  let directory: string;
  let mark: string;
  let driver: PrintDriver;
  let events: EventLog<SessionEvent>;

  beforeEach(async () => {
    directory = await tempFolder();
    mark = createSecret();
  });

  afterEach(async () => {
    await killMarked(mark);
    driver.dispose();
  });

  function make(command: readonly string[], options: { prompt?: string; cwd?: string } = {}) {
    driver = new PrintDriver({
      command,
      cwd: options.cwd ?? directory,
      env: { PATH: process.env['PATH'] ?? '', CLAUDE_CODE_BRIDGE_MARK: mark },
      prompt: options.prompt ?? 'The prompt.',
      model: null,
      sessionId: '00000000-0000-4000-8000-000000000000',
      clock: systemClock,
      guard: passingGuard,
      killTree: async (pid) => {
        await killTree({ pid, mark, clock: systemClock, graceMs: 300 });
      },
    });
    events = new EventLog(driver.onEvent);
    return driver;
  }

  async function run(...behaviour: string[]) {
    await make([process.execPath, agent, ...behaviour]).start();
  }

  const printed = () =>
    events.all.flatMap((event) => (event.type === 'printed' ? event.lines : [])).join('\n');

  it('accepts no answer, whatever the program prints', async () => {
    await run('forged-dialog', '0.2');
    await events.next('exited');
    expect(events.all.map((event) => event.type)).not.toContain('request');
    expect(printed()).not.toContain('FORGERY GOT');
    expect(await driver.answer('anything', { verdict: 'allow' })).toBe('gone');
  });

  it('ends a child that keeps the output open', async () => {
    await make(['/bin/sh', '-c', 'setsid sleep 600 & echo started']).start();
    await events.next('exited');
    expect(printed()).toContain('started');
    expect(await markedProcesses(mark)).toEqual([]);
  });

  it('reports the end of stderr when the program fails', async () => {
    await make(['/bin/sh', '-c', 'echo "error: unknown option" >&2; exit 2']).start();
    await events.next('exited');
    expect(events.all).toContainEqual({ type: 'notice', text: 'stderr: error: unknown option' });
  });

  it('cannot start a program that is not there, and says so', async () => {
    await expect(make(['/nowhere/claude']).start()).rejects.toMatchObject({ code: 'TASK_START_FAILED' });
  });
});
