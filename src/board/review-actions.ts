import { isFinal } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { continueTask } from './continue-task.js';
import type { ActionAnswer, ClientAction } from './protocol.js';
import { reviewMessage, type Reviews } from './reviews.js';

export type ReviewAction = Extract<ClientAction, { readonly type: `review.${string}` }>;

/** Keeps, removes or sends comments. Gives the task that was started to go on from one that has ended. Throws as the task service. */
export async function actOnReview(
  action: ReviewAction,
  { tasks, reviews }: { readonly tasks: TaskService; readonly reviews: Reviews },
): Promise<ActionAnswer> {
  const { task_id } = action;
  switch (action.type) {
    case 'review.add': {
      const { type: _type, task_id: _id, ...comment } = action;
      await tasks.get(task_id);
      await reviews.add(task_id, comment);
      return {};
    }
    case 'review.remove':
      await reviews.remove(task_id, action.comment_id);
      return {};
    case 'review.submit': {
      const started = await submit(task_id, tasks, reviews);
      return started === undefined ? {} : { task_id: started };
    }
  }
}

async function submit(taskId: string, tasks: TaskService, reviews: Reviews): Promise<string | undefined> {
  let started: string | undefined;
  await reviews.submit(taskId, new Date().toISOString(), async (drafts) => {
    const text = reviewMessage(drafts);
    const record = await tasks.get(taskId);
    if (isFinal(record.status)) started = await continueTask(taskId, text, tasks);
    else await tasks.message(taskId, { text });
  });
  return started;
}
