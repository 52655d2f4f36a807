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
import { TASK_ID, taskRecord } from '../tools/fake-task-service.js';

const SETTINGS = {
  image: 'team/claude:1',
  network: 'bridge',
  memory_mb: 4096,
  home: null,
  engine: engineSettings({ env: {}, homeDir: '/' }),
  command: ['claude'],
};

it('the container is of the image that the user has set, and refused without one', () => {
  const { command, ...container } = SETTINGS;
  expect(chooseContainer(SETTINGS)).toEqual({ container, command });
  for (const settings of [{ ...SETTINGS, image: null }, undefined])
    expect(() => chooseContainer(settings)).toThrow(expect.objectContaining({ code: 'TASK_START_FAILED' }));
});

it.each(['cautious', 'sandboxed', 'claude'] as const)(
  'refuses mode %s, which it cannot keep, with both drivers',
  (permissionMode) => {
    for (const driver of ['interactive', 'print'] as const) {
      const common = { isolation: 'docker', driver, permissionMode } as const;
      expect(() => driverFor(common)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENTS' }));
      expect(driverFor({ ...common, permissionMode: 'auto' })).toBe(driver);
    }
  },
);

it('holds for a task that goes on with an earlier one: both in containers, or both on this machine', () => {
  expect(() => checkSamePlace('task_1', true, { isolation: 'docker' })).not.toThrow();
  expect(() => checkSamePlace('task_1', false, {})).not.toThrow();
  expect(() => checkSamePlace('task_1', true, { isolation: 'none' })).toThrow(/worked in a container/);
  expect(() => checkSamePlace('task_1', false, { isolation: 'docker' })).toThrow(/worked on this machine/);
});

it('mode claude runs with the print driver, and is refused with a terminal', () => {
  expect(driverFor({ permissionMode: 'claude' })).toBe('print');
  expect(driverFor({ permissionMode: 'auto' })).toBe('interactive');
  expect(() => driverFor({ permissionMode: 'claude', driver: 'interactive' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENTS' }),
  );
});

it.each(['cautious', 'sandboxed', 'claude'] as const)(
  'refuses mode %s for a session that asks nothing at all',
  (permissionMode) => {
    expect(() => driverFor({ permissionMode, skipPermissions: true })).toThrow(
      'conversation_skip_permissions',
    );
    expect(() => driverFor({ permissionMode: 'auto', skipPermissions: true })).not.toThrow();
  },
);

const SESSION = '11111111-1111-4111-8111-111111111111';
const ended: Partial<TaskRecord> = { status: 'completed', session_id: SESSION, project_path: '/real/app' };

function continued(origin: string, changes: Partial<TaskRecord> = {}) {
  const record = taskRecord({ ...ended, ...changes });
  return continuedTask(origin, async (id) => (id === TASK_ID ? record : undefined));
}

it.each([TASK_ID, TASK_ID.replace('task_', 'response_')])('%s is continued with its session', async (id) => {
  for (const status of ['completed', 'killed'] as const)
    expect(await continued(id, { status })).toMatchObject({ session_id: SESSION });
});

it('a session that a person started is continued when it is idle or has ended', async () => {
  const native = { driver: 'native' } as const;
  expect(await continued(TASK_ID, native)).toMatchObject({ session_id: SESSION });
  const idle = { ...native, status: 'waiting', reason: `The turn is over; ${WAITS_FOR_MESSAGE}` } as const;
  expect(await continued(TASK_ID, idle)).toMatchObject({ session_id: SESSION });
  await expect(continued(TASK_ID, { ...native, status: 'running' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    hint: `Wait until it is idle or has ended, with wait_for_task ${TASK_ID}.`,
  });
});

it('another directory is refused by the names of both', async () => {
  const record = await continued(TASK_ID);
  expect(() => checkSameFolder(record, '/real/app')).not.toThrow();
  expect(() => checkSameFolder(record, '/real/other')).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENTS',
      message: `${TASK_ID} worked in /real/app, not in /real/other: Claude Code keeps sessions by directory.`,
    }),
  );
});

it.each<[string, string, Partial<TaskRecord>, string, RegExp]>([
  ['what is no id', '--resume', {}, 'INVALID_ARGUMENTS', /'--resume'/],
  ['an unknown task', 'task_ffffffffffffffffffff', {}, 'TASK_NOT_FOUND', /not known/],
  ['an unknown response', 'response_ffffffffffffffffffff', {}, 'TASK_NOT_FOUND', /response_f/],
  ['a task that runs', TASK_ID, { status: 'running' }, 'INVALID_ARGUMENTS', /has not ended/],
  ['a program that is not Claude', TASK_ID, { session_id: null }, 'INVALID_ARGUMENTS', /no session/],
])('%s is refused', async (_, origin, changes, code, message) => {
  const refusal = continued(origin, changes);
  await expect(refusal).rejects.toMatchObject({ code });
  await expect(refusal).rejects.toThrow(message);
});
