import { BridgeError } from '../base/errors.js';
import { isFinal } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import type { ClientAction } from './protocol.js';
import { reviewMessage, type Reviews } from './reviews.js';

export type ReviewAction = Extract<ClientAction, { readonly type: `review.${string}` }>;

/** Keeps, removes or sends comments. Gives the task that was started to go on from one that has ended. Throws as the task service. */
export async function actOnReview(
  action: ReviewAction,
  { tasks, reviews }: { readonly tasks: TaskService; readonly reviews: Reviews },
): Promise<string | undefined> {
  const { task_id } = action;
  switch (action.type) {
    case 'review.add': {
      const { type: _type, task_id: _id, ...comment } = action;
      await tasks.get(task_id);
      await reviews.add(task_id, comment);
      return undefined;
    }
    case 'review.remove':
      await reviews.remove(task_id, action.comment_id);
      return undefined;
    case 'review.submit':
      return submit(task_id, tasks, reviews);
  }
}

async function submit(taskId: string, tasks: TaskService, reviews: Reviews): Promise<string | undefined> {
  const drafts = (await reviews.of(taskId)).filter(({ sent_at }) => sent_at === null);
  if (drafts.length === 0)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'There are no comments to send.',
      'Write one on a line first.',
    );
  const text = reviewMessage(drafts);
  const record = await tasks.get(taskId);
  let started: string | undefined;
  if (isFinal(record.status)) {
    const { project_path: path, permission_mode: permissionMode, model } = record;
    const next = await tasks.start({
      prompt: text,
      path,
      permissionMode,
      continueFrom: taskId,
      ...(model !== null && { model }),
    });
    started = next.task_id;
  } else await tasks.message(taskId, { text });
  await reviews.sent(taskId, new Set(drafts.map(({ comment_id }) => comment_id)), new Date().toISOString());
  return started;
}
