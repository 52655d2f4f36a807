import { expect, it } from 'vitest';
import { engineSettings } from '../../src/services/engine-settings.js';
import {
  checkSameFolder,
  checkSamePlace,
  chooseContainer,
  continuedTask,
  driverFor,
} from '../../src/tasks/start-checks.js';
import { WAITS_FOR_MESSAGE, type TaskRecord } from '../../src/tasks/task.js';
import { refusal } from '../harness/refusal.js';
import { TASK_ID, taskRecord } from '../tools/fake-task-service.js';

it('the container is of the image that the user has set, and refused without one', () => {
  const engine = engineSettings({ env: {}, homeDir: '/' });
  const container = { image: 'team/claude:1', network: 'bridge', memory_mb: 4096, home: null, engine };
  const command = ['claude'];
  expect(chooseContainer({ ...container, command })).toEqual({ container, command });
  for (const settings of [{ ...container, command, image: null }, undefined])
    expect(() => chooseContainer(settings)).toThrow(expect.objectContaining({ code: 'TASK_START_FAILED' }));
});

it('a task goes on where the earlier one worked: in containers, on this machine, in its folder', () => {
  expect(() => checkSamePlace('task_1', true, { isolation: 'docker' })).not.toThrow();
  expect(() => checkSamePlace('task_1', false, {})).not.toThrow();
  expect(() => checkSamePlace('task_1', true, { isolation: 'none' })).toThrow(/worked in a container/);
  expect(() => checkSamePlace('task_1', false, { isolation: 'docker' })).toThrow(/worked on this machine/);
  const record = taskRecord({ project_path: '/real/app' });
  expect(() => checkSameFolder(record, '/real/app')).not.toThrow();
  expect(() => checkSameFolder(record, '/real/other')).toThrow(
    `${TASK_ID} worked in /real/app, not in /real/other: Claude Code keeps sessions by directory.`,
  );
});

it('mode claude runs with the print driver, and is refused with a terminal', () => {
  expect(driverFor({ permissionMode: 'claude' })).toBe('print');
  expect(driverFor({ permissionMode: 'auto' })).toBe('interactive');
  expect(() => driverFor({ permissionMode: 'claude', driver: 'interactive' })).toThrow(/do not go together/);
});

it.each(['cautious', 'sandboxed', 'claude'] as const)(
  'mode %s is refused in a container, and for a session that asks nothing at all',
  (permissionMode) => {
    for (const driver of ['interactive', 'print'] as const) {
      const inContainer = { isolation: 'docker', driver, permissionMode } as const;
      expect(() => driverFor(inContainer)).toThrow(/isolation 'docker' do not go together/);
      expect(driverFor({ ...inContainer, permissionMode: 'auto' })).toBe(driver);
    }
    const asksNothing = { permissionMode, skipPermissions: true };
    expect(() => driverFor(asksNothing)).toThrow('conversation_skip_permissions');
    expect(() => driverFor({ ...asksNothing, permissionMode: 'auto' })).not.toThrow();
  },
);

const session_id = '11111111-1111-4111-8111-111111111111';
const native = { driver: 'native' } as const;

function continued(origin: string, changes: Partial<TaskRecord> = {}) {
  const record = taskRecord({ status: 'completed', session_id, ...changes });
  return continuedTask(origin, async (id) => (id === TASK_ID ? record : undefined));
}

it.each<[string, string, Partial<TaskRecord>]>([
  ['a task', TASK_ID, {}],
  ['a response', TASK_ID.replace('task_', 'response_'), {}],
  ['a killed task', TASK_ID, { status: 'killed' }],
  ['a session of a person', TASK_ID, native],
  ['an idle one', TASK_ID, { ...native, status: 'waiting', reason: `Over; ${WAITS_FOR_MESSAGE}` }],
])('%s is continued with its session', async (_, origin, changes) => {
  expect(await continued(origin, changes)).toMatchObject({ session_id });
});

it.each<[string, string, Partial<TaskRecord>, RegExp]>([
  ['what is no id', '--resume', {}, /^INVALID_ARGUMENTS: .*'--resume'/],
  ['an unknown response', 'response_ffffffffffffffffffff', {}, /^TASK_NOT_FOUND: .*response_f.* not known/],
  ['a task that runs', TASK_ID, { status: 'running' }, /^INVALID_ARGUMENTS: .*has not ended/],
  ['a session in a turn', TASK_ID, { ...native, status: 'running' }, /Wait for it with wait_for_task/],
  [
    'a task whose session never began',
    TASK_ID,
    { session_id: null, turns: 0 },
    /^INVALID_ARGUMENTS: .*its session never began\.[^]*Start a new task with the same prompt\./,
  ],
  ['a session without transcript', TASK_ID, { session_id: null, turns: 1 }, /was not stored by Claude Code/],
])('%s is refused', async (_, origin, changes, words) => {
  expect(await refusal(continued(origin, changes))).toMatch(words);
});
