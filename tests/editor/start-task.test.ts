import { expect, test } from 'vitest';
import { BoardRefusal } from '../../vscode/src/board/board-connection.js';
import { noTopic } from '../../vscode/src/tasks/start/prompt.js';
import { startTask, type BusyChoice, type StartDialogs } from '../../vscode/src/tasks/start/start-task.js';

const ID = 'task_0123456789abcdef0123';
const BUSY = 'Task task_1 works in /p.';
const busy = new BoardRefusal({ code: 'TASK_ALREADY_RUNNING', message: BUSY, hint: '' });

interface Person {
  readonly isTrusted?: boolean;
  readonly request?: string;
  readonly saves?: boolean;
  readonly busy?: BusyChoice;
}

/** Starts a task with such a person; `answers` are those of the board, one for each try. */
async function started(person: Person, ...answers: readonly (string | Error)[]): Promise<readonly string[]> {
  const seen: string[] = [];
  const dialogs: StartDialogs = {
    isTrusted: () => person.isTrusted ?? true,
    untrusted: () => void seen.push('untrusted'),
    request: async (draft, about) => {
      seen.push(`asked ${draft}|${about}`);
      return 'request' in person ? person.request : 'Do it.';
    },
    save: async () => person.saves ?? true,
    whenBusy: async (why) => {
      seen.push(`busy ${why}`);
      return person.busy;
    },
    failed: (why) => void seen.push(`failed ${why}`),
    started: (id) => void seen.push(`started ${id}`),
  };
  const left = [...answers];
  await startTask({
    topic: noTopic,
    dialogs,
    start: async (prompt, onConflict) => {
      seen.push(`${onConflict} < ${prompt}`);
      const answer = left.shift() ?? '';
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return seen;
}

test('a task is started with the prompt, and shown', async () => {
  expect(await started({}, ID)).toEqual(['asked |', 'error < Do it.', `started ${ID}`]);
});

test('nothing is started in a workspace that is not trusted, without words, or when the person leaves', async () => {
  expect(await started({ isTrusted: false })).toEqual(['untrusted']);
  expect(await started({ request: '  ' })).toEqual(['asked |']);
  expect(await started({ saves: false })).toEqual(['asked |']);
});

test('for a busy folder the person chooses: after the other task, beside it, or not at all', async () => {
  expect((await started({ busy: 'queue' }, busy, ID)).slice(2)).toEqual([
    `busy ${BUSY}`,
    'queue < Do it.',
    `started ${ID}`,
  ]);
  expect(await started({ busy: 'worktree' }, busy, ID)).toContain('worktree < Do it.');
  expect((await started({}, busy)).slice(2)).toEqual([`busy ${BUSY}`]);
});

test('an error is shown whole, also of the second try', async () => {
  const why = '/p is outside. Add it to "allowed_roots".';
  expect((await started({}, new Error(why))).at(-1)).toBe(`failed ${why}`);
  expect((await started({ busy: 'worktree' }, busy, new Error(why))).at(-1)).toBe(`failed ${why}`);
});
