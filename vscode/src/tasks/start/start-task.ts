// Pure.
import { messageOf } from '../../../../src/base/errors.js';
import { BoardRefusal } from '../../board/board-connection.js';
import { promptOf, requestOf, topicLine, type TaskTopic } from './prompt.js';

/** What the person chooses for a folder in which another task works. */
export type BusyChoice = 'queue' | 'worktree';

/** What is asked of the person, and shown. A question that is dismissed is undefined or false: nothing is started then. */
export interface StartDialogs {
  readonly isTrusted: () => boolean;
  /** What is missing, and what to do. */
  readonly untrusted: () => void;
  /** What Claude is to do. */
  readonly request: (draft: string, about: string) => Promise<string | undefined>;
  /** Offers to save files that are not saved. */
  readonly save: () => Promise<boolean>;
  /** `why` is the message of the command. */
  readonly whenBusy: (why: string) => Promise<BusyChoice | undefined>;
  readonly failed: (why: string) => void;
  readonly started: (taskId: string) => void;
}

export interface StartOptions {
  readonly topic: TaskTopic;
  readonly dialogs: StartDialogs;
  /** Starts the task; gives its id. Throws BoardRefusal. */
  readonly start: (prompt: string, onConflict: 'error' | BusyChoice) => Promise<string>;
}

/** Asks the person what a task is to do, and starts it. Never throws: what failed is shown. */
export async function startTask({ topic, dialogs, start }: StartOptions): Promise<void> {
  if (!dialogs.isTrusted()) return dialogs.untrusted();
  const request = await dialogs.request(requestOf(topic.problems), topicLine(topic));
  if (request === undefined || request.trim() === '') return;
  if (!(await dialogs.save())) return;
  const prompt = promptOf(request, topic);
  try {
    dialogs.started(await start(prompt, 'error'));
  } catch (error) {
    const isBusy = error instanceof BoardRefusal && error.code === 'TASK_ALREADY_RUNNING';
    if (!isBusy) return dialogs.failed(messageOf(error));
    const choice = await dialogs.whenBusy(messageOf(error));
    if (choice === undefined) return;
    await start(prompt, choice).then(dialogs.started, (again: unknown) => dialogs.failed(messageOf(again)));
  }
}
