import { beforeEach, expect, test } from 'vitest';
import { emptyBoard, type DecisionView } from '../../src/board/state.js';
import type { ClientAction } from '../../src/board/protocol.js';
import { decisionViewOf } from '../../src/board/task-views.js';
import { deferred, type Deferred } from '../../vscode/src/deferred.js';
import { decisionNotices } from '../../vscode/src/tasks/notifications/decision-notices.js';
import { ManualClock } from '../harness/manual-clock.js';
import { decision, TASK_ID } from '../tools/fake-task-service.js';

const ALLOW = 'Allow Once';

/** Notifications that are shown, in their order. */
let shown: Deferred<string | undefined>[];
let actions: ClientAction[];
let opened: string[];
let clock: ManualClock;
let ask: ReturnType<typeof decisionNotices>;

beforeEach(() => {
  [shown, actions, opened, clock] = [[], [], [], new ManualClock()];
  ask = decisionNotices({
    board: {
      board: emptyBoard,
      do: async (action) => {
        actions.push(action);
        return {};
      },
    },
    clock,
    show: () => {
      const notification = deferred<string | undefined>();
      shown.push(notification);
      return notification.promise;
    },
    open: async (taskId) => void opened.push(taskId),
    warn: () => Promise.reject(new Error('nothing is refused here')),
  });
});

function asked(id: string): DecisionView {
  return { ...decisionViewOf(TASK_ID, decision()), decision_id: id, input: { command: 'ls' } };
}

async function press(at: number, label: string | undefined): Promise<void> {
  shown[at]?.resolve(label);
  // What follows from it happens in this turn.
  await new Promise(setImmediate);
}

test('a button that was read answers, and closing answers nothing', async () => {
  void ask(asked('dec_1'));
  void ask(asked('dec_2'));
  clock.advance(500);
  await press(1, undefined);
  clock.advance(500);
  await press(0, ALLOW);
  expect(actions).toMatchObject([{ decision_id: 'dec_1', verdict: 'allow' }]);
});

test.each([
  ['appeared', () => void ask(asked('dec_2'))],
  ['went', () => press(1, undefined)],
  ['was answered', () => press(1, ALLOW)],
])('a button that is pressed just after another notification %s only asks again', async (_what, move) => {
  void ask(asked('dec_1'));
  void ask(asked('dec_3'));
  clock.advance(60_000);
  await move();
  const before = shown.length;
  clock.advance(499);
  await press(0, ALLOW);
  expect(actions.filter((one) => 'decision_id' in one && one.decision_id === 'dec_1')).toEqual([]);
  expect(shown).toHaveLength(before + 1);
  clock.advance(500);
  await press(before, ALLOW);
  expect(actions.at(-1)).toMatchObject({ decision_id: 'dec_1', verdict: 'allow' });
});

test('the view is shown at once', async () => {
  void ask(asked('dec_1'));
  await press(0, 'Show');
  expect(opened).toEqual([TASK_ID]);
});
