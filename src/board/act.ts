import { BridgeError } from '../base/errors.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';
import type { ActionAnswer, ClientAction } from './protocol.js';
import type { Replays } from './replay/replays.js';
import { actOnReview } from './review-actions.js';
import type { Reviews } from './reviews.js';
import { inputHash } from './task-views.js';

/** What a person does to a task, other than in its terminal. */
export type TaskClientAction = Exclude<ClientAction, { readonly type: `term.${string}` }>;

export interface ActServices {
  readonly tasks: TaskService;
  readonly reviews: Reviews;
  readonly replays: Pick<Replays, 'act'>;
  readonly finisher: Pick<TaskFinisher, 'finish'>;
}

const noAbort = new AbortController().signal;

/** Does what a person asked for at a page; `by` stands in the task's journal. Throws as the task service and Replays do. */
export async function act(
  action: TaskClientAction,
  by: string,
  { tasks, reviews, replays, finisher }: ActServices,
): Promise<ActionAnswer> {
  switch (action.type) {
    case 'decision.answer':
      await answer(action, by, tasks);
      return {};
    case 'task.message':
      await tasks.message(action.task_id, { text: action.text });
      return {};
    case 'task.interrupt':
      await tasks.message(action.task_id, { interrupt: true });
      return {};
    case 'task.kill':
      await tasks.kill(action.task_id, action.reason === '' ? `Killed from the ${by}.` : action.reason);
      return {};
    case 'task.finish':
      await finisher.finish({ taskId: action.task_id, action: action.action, signal: noAbort });
      return {};
    case 'review.add':
    case 'review.remove':
    case 'review.submit': {
      const started = await actOnReview(action, { tasks, reviews });
      return started === undefined ? {} : { task_id: started };
    }
    case 'replay.seek':
    case 'replay.read':
    case 'replay.files':
      return replays.act(action);
  }
}

async function answer(
  {
    task_id,
    decision_id,
    input_sha256,
    verdict,
    message,
    answers,
  }: Extract<ClientAction, { type: 'decision.answer' }>,
  by: string,
  tasks: TaskService,
): Promise<void> {
  const { decisions } = await tasks.get(task_id);
  const decision = decisions.find((one) => one.decision_id === decision_id);
  // The task itself says why there is none, or that it was answered.
  if (decision !== undefined && decision.closed_at === null && inputHash(decision) !== input_sha256) {
    throw new BridgeError(
      'DECISION_CLOSED',
      `What ${decision_id} asks for has changed since it was shown.`,
      'Read it again and answer what it asks now.',
    );
  }
  await tasks.respond(task_id, {
    decision_id,
    verdict,
    ...(message !== undefined && { message }),
    ...(answers !== undefined && { answers }),
    by,
  });
}
