import { BridgeError, nextWords } from '../base/errors.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { TaskRecord } from '../tasks/task.js';
import type { OpenChannel } from './channel.js';
import { followTask, type FeedOptions } from './feed.js';
import { filesOfPatch, type ReadPatch } from './patch-files.js';
import type { Reviews } from './reviews.js';
import type { DiffState } from './state.js';

export interface DiffFeedOptions extends FeedOptions {
  readonly reviews: Reviews;
  /** Which patch shows what a task changed. Throws NOT_A_REPOSITORY, and the errors of git. */
  readonly patchOf: (record: TaskRecord) => Promise<TaskPatch>;
  readonly readPatch: ReadPatch;
}

type ReadDiff = Omit<DiffState, 'comments'>;

/** Opens what a task changed, with the comments on it. Throws as `followTask`. */
export async function openDiffFeed(options: DiffFeedOptions, taskId: string): Promise<OpenChannel> {
  const { reviews } = options;
  /** What says that files may have changed, as it was when git was asked. */
  let seen = '';
  let read: ReadDiff = { files: [], notes: [], why: null, tree: null };
  let reviewed = 0;
  return followTask(options, `diff:/${taskId}`, taskId, async (record, reading) => {
    if (seen === '')
      reading.owned.add(
        reviews.onDidChange((changed) => {
          if (changed !== taskId) return;
          reviewed++;
          reading.again();
        }),
      );
    const { status, turns, files_changed, worktree } = record;
    const now = JSON.stringify([status, turns, files_changed, worktree?.finished?.at, reviewed]);
    if (now !== seen) read = await readDiff(options, record, reading.signal);
    seen = now;
    const { files, ...facts } = read;
    const comments = await reviews.of(taskId);
    return new Map<string, unknown>([
      ...Object.entries(facts),
      ...files.map((file, number) => [`file/${number}`, file] as const),
      ...comments.map((comment, number) => [`comment/${number}`, comment] as const),
    ]);
  });
}

async function readDiff(
  { patchOf, readPatch }: DiffFeedOptions,
  record: TaskRecord,
  signal: AbortSignal,
): Promise<ReadDiff> {
  try {
    const patch = await patchOf(record);
    const { tree = null } = patch;
    if (patch.state === 'nothing') return { files: [], notes: [], why: patch.why, tree };
    const { files, notes } = await filesOfPatch(readPatch, patch.query, signal);
    return { files, notes: [...patch.notes, ...notes], why: null, tree };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { files: [], notes: [], why: `${error.message} ${nextWords(error.next)}`, tree: null };
  }
}
