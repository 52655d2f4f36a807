import { expect, it } from 'vitest';
import { Emitter } from '../../../src/base/lifecycle.js';
import { silentLogger } from '../../../src/base/logger.js';
import { type Notice, TaskNotices } from '../../../src/keeper/notices/task-notices.js';
import type { Decision, TaskRecord } from '../../../src/tasks/task.js';
import { HastyClock } from '../../harness/hasty-clock.js';
import { sampleDecision } from '../../tasks/sample-decision.js';
import { sampleRecord, TASK_ID } from '../../tasks/sample-task.js';

const asked = sampleDecision({
  input: { command: 'echo hidden-words' },
  summary: 'Bash: echo hidden-words',
});
const waiting = sampleRecord({ status: 'waiting', decisions: [asked] });
const ended = sampleRecord({ status: 'completed', reason: 'It is done.' });

/** The notices of a task that goes through these records. */
async function noticesOf(
  records: readonly TaskRecord[],
  kinds: readonly Notice['kind'][] = ['decision', 'end'],
  late?: Decision,
): Promise<Notice[]> {
  const changes = new Emitter<TaskRecord>();
  const task = { record: sampleRecord(), onDidChange: changes.event };
  const sent: Notice[] = [];
  const notices = new TaskNotices({
    task,
    kinds,
    routes: [{ name: 'test', send: async (notice) => void sent.push(notice) }],
    clock: new HastyClock(),
    logger: silentLogger,
  });
  for (const record of records) changes.fire((task.record = record));
  await notices.finish(late);
  notices.dispose();
  return sent;
}

it('a decision is told once, however often the record changes, and so is the end', async () => {
  const second = { ...asked, decision_id: 'dec_2' };
  const sent = await noticesOf([
    waiting,
    { ...waiting, activity: 'x' },
    { ...waiting, decisions: [{ ...asked, closed_at: '2026-01-01T00:00:01.000Z' }, second] },
    ended,
  ]);
  expect(sent.map(({ id }) => id)).toEqual([`${TASK_ID}-dec_1`, `${TASK_ID}-dec_2`, `${TASK_ID}-end`]);
});

it('the desktop shows the request, and what leaves the machine says only that there is one', async () => {
  const [notice] = await noticesOf([waiting]);
  expect(notice).toMatchObject({ title: 'Claude Code asks in app', words: asked.summary });
  expect(JSON.stringify(notice?.facts)).not.toContain('hidden-words');
  expect(notice?.facts).toMatchObject({
    task_id: TASK_ID,
    project: 'app',
    decision_id: 'dec_1',
    tool: 'Bash',
  });
});

it('a notice of an answer that came too late holds no words of it, and the end is not sent with it', async () => {
  const [notice, ...more] = await noticesOf([], ['decision', 'end'], asked);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    title: 'An answer came too late in app',
    words: `It changed nothing: ${asked.summary}`,
  });
  expect(notice?.facts).toMatchObject({ decision_id: 'dec_1', too_late: true });
  expect(JSON.stringify(notice?.facts)).not.toContain('hidden-words');
  expect(await noticesOf([], ['end'], asked)).toEqual([]);
});

it('the end of a task with checks says how many are met, by each route', async () => {
  const checked = {
    rounds: 0,
    results: [
      { name: 'secret-name', command: 'secret-command', verdict: 'not met' as const },
      { name: 'b', command: 'b', verdict: 'met' as const },
    ],
  };
  const [notice] = await noticesOf([{ ...ended, checked }]);
  expect(notice?.words).toBe(`1 of 2 checks met. ${ended.prompt_summary}`);
  expect(notice?.facts).toMatchObject({ checks: '1 of 2 checks met' });
  expect(JSON.stringify(notice?.facts)).not.toContain('secret');
});

it('a route that fails is logged, and keeps no other notice back', async () => {
  const warnings: string[] = [];
  const sent: string[] = [];
  const changes = new Emitter<TaskRecord>();
  const task = { record: sampleRecord(), onDidChange: changes.event };
  const notices = new TaskNotices({
    task,
    kinds: ['decision', 'end'],
    routes: [
      { name: 'webhook', send: () => Promise.reject(new Error('it answered with HTTP status 500')) },
      { name: 'desktop', send: async ({ id }) => void sent.push(id) },
    ],
    clock: new HastyClock(),
    logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
  });
  changes.fire((task.record = waiting));
  await notices.finish();
  notices.dispose();
  expect(sent).toEqual([`${TASK_ID}-dec_1`]);
  expect(warnings).toEqual(['The webhook did not take a notice: it answered with HTTP status 500']);
});

it('the end of the keeper is not held up by a route that hangs', async () => {
  const task = { record: ended, onDidChange: new Emitter<TaskRecord>().event };
  let aborted = false;
  const notices = new TaskNotices({
    task,
    kinds: ['end'],
    routes: [
      {
        name: 'test',
        send: (_, signal) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(new Error('it was too slow'));
            }),
          ),
      },
    ],
    clock: new HastyClock(),
    logger: silentLogger,
  });
  await notices.finish();
  notices.dispose();
  expect(aborted).toBe(true);
});
