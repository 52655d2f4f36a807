// Pure.
import { messageOf } from '../../../../src/base/errors.js';
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
  /** Absolute. */
  readonly folder: string;
  readonly topic: TaskTopic;
  readonly dialogs: StartDialogs;
  /** Runs `claude-code-bridge`, as `runBridge`. */
  readonly run: (args: readonly string[], stdin: string) => Promise<string>;
}

const TASK_ID = /task_[0-9a-f]{20}/;

/** Asks the person what a task is to do, and starts it. Never throws: what failed is shown. */
export async function startTask({ folder, topic, dialogs, run }: StartOptions): Promise<void> {
  if (!dialogs.isTrusted()) return dialogs.untrusted();
  const request = await dialogs.request(requestOf(topic.problems), topicLine(topic));
  if (request === undefined || request.trim() === '') return;
  if (!(await dialogs.save())) return;
  const prompt = promptOf(request, topic);
  const start = (...more: readonly string[]): Promise<string> =>
    run(['run', '--detach', '--path', folder, ...more, '-'], prompt);
  try {
    dialogs.started(idIn(await start()));
  } catch (error) {
    if (!isBusy(error)) return dialogs.failed(messageOf(error));
    const choice = await dialogs.whenBusy(messageOf(error));
    if (choice === undefined) return;
    try {
      dialogs.started(idIn(await start(`--${choice}`)));
    } catch (again) {
      dialogs.failed(messageOf(again));
    }
  }
}

/** Another task works in the folder. */
function isBusy(error: unknown): boolean {
  return /^TASK_ALREADY_RUNNING:/m.test(messageOf(error));
}

function idIn(printed: string): string {
  const id = TASK_ID.exec(printed)?.[0];
  if (id !== undefined) return id;
  throw new Error(
    `claude-code-bridge printed no id of a task: ${printed.trim()}. Install its newest version.`,
  );
}
