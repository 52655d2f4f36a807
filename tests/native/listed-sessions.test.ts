import { expect, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import type { AgentSession } from '../../src/native/agent-list.js';
import { ListedSessions } from '../../src/native/listed-sessions.js';
import { nativeTaskId } from '../../src/native/native-task-id.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { ManualClock } from '../harness/manual-clock.js';
import { sampleRecord } from '../tasks/sample-task.js';

const sessionId = '11111111-1111-4111-8111-111111111111';
const idle: AgentSession = {
  pid: 7,
  cwd: '/roots/app',
  kind: 'interactive',
  startedAt: 1_000,
  sessionId,
  name: 'app-78',
  status: 'idle',
};
const ended: AgentSession = { ...idle, pid: undefined, kind: 'background', status: undefined };

interface Made {
  readonly marked?: number;
  readonly isOn?: boolean;
  readonly processes?: () => Promise<never>;
}

function sessions(listed: readonly AgentSession[], { marked = 0, isOn = true, processes }: Made = {}) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  let now = listed;
  const made = new ListedSessions({
    clock,
    agents: { read: () => Promise.resolve(now) },
    resolveProject: (folder) =>
      folder.startsWith('/roots/')
        ? Promise.resolve(folder)
        : Promise.reject(new BridgeError('PATH_NOT_ALLOWED', 'outside', '')),
    processes:
      processes ??
      (() =>
        Promise.resolve([
          { pid: 7, parentPid: 1, mark: undefined },
          { pid: marked, parentPid: 1, mark: 'of a task' },
        ])),
    onLook: () => Promise.resolve(),
    isOn: () => isOn,
    onError: (error) => errors.push(error),
  });
  const records = (known: readonly TaskRecord[] = []) => made.records(known, 'look');
  return { records, errors, clock, change: (next: readonly AgentSession[]) => void (now = next) };
}

test.each<[string, AgentSession, Partial<TaskRecord>]>([
  ['is idle', idle, { status: 'waiting', reason: 'The session is idle; the session waits for a message.' }],
  ['works', { ...idle, status: 'busy' }, { status: 'running', reason: 'The session runs.' }],
  [
    'asks',
    { ...idle, status: 'waiting', waitingFor: 'permission prompt' },
    {
      status: 'waiting',
      reason: 'Waits for an answer (permission prompt). It is answered in the terminal of the session.',
    },
  ],
  ['was stopped', { ...ended, state: 'stopped' }, { status: 'killed' }],
  ['is done', { ...ended, state: 'done' }, { status: 'completed' }],
  ['failed', { ...ended, state: 'failed' }, { status: 'failed' }],
])('a session that %s is a record that says so', async (_, session, expected) => {
  expect(await sessions([session]).records()).toMatchObject([
    {
      ...expected,
      task_id: nativeTaskId(sessionId, session.pid),
      driver: 'native',
      project_path: '/roots/app',
      prompt_summary: 'app-78',
      session_id: sessionId,
      keeper: null,
    },
  ]);
});

test.each<[string, Parameters<typeof sessions>, readonly TaskRecord[]]>([
  ['of a task that runs', [[idle]], [sampleRecord({ status: 'running', session_id: sessionId })]],
  [
    'that has a record',
    [[idle]],
    [sampleRecord({ task_id: nativeTaskId(sessionId, 7), status: 'completed' })],
  ],
  ['that ended and has a record', [[ended]], [sampleRecord({ status: 'completed', session_id: sessionId })]],
  ['in a process of a task', [[idle], { marked: 7 }], []],
  ['outside of the roots', [[{ ...idle, cwd: '/etc' }]], []],
  ['whose person ended the view', [[idle], { isOn: false }], []],
])('a session %s is not listed', async (_, [listed, options], known) => {
  expect(await sessions(listed, options).records(known)).toEqual([]);
});

test('the number of a change grows when the session changes, and then alone', async () => {
  const { records, clock, change } = sessions([idle]);
  clock.advance(50_000);
  const seq = async () => (await records())[0]?.change_seq;
  expect(await seq()).toBe(500);
  clock.advance(10_000);
  expect(await seq()).toBe(500);
  change([{ ...idle, status: 'busy' }]);
  expect(await seq()).toBe(600);
});

test('a session that cannot be shown hides none of the others, and is reported', async () => {
  const bad = { ...idle, sessionId: '22222222-2222-4222-8222-222222222222', startedAt: 1e20 };
  const { records, errors } = sessions([bad, idle]);
  expect(await records()).toMatchObject([{ session_id: sessionId }]);
  expect(errors).toHaveLength(1);
});

test('without the list of processes there are none, and the reason is reported', async () => {
  const { records, errors } = sessions([idle], { processes: () => Promise.reject(new Error('no table')) });
  expect(await records()).toEqual([]);
  expect(errors).toEqual([new Error('no table')]);
});
