import { BridgeError, nextWords } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { FarPlace, MachineTasks } from '../machines/machine-tasks.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { TaskRecord } from '../tasks/task.js';
import type { Put } from './channel.js';
import { followTask, type FeedOptions } from './feed.js';
import { filesOfPatch, type ReadPatch } from './patch-files.js';
import type { Reviews } from './reviews.js';
import type { DiffState } from './state.js';

export interface DiffFeedOptions extends FeedOptions {
  readonly reviews: Reviews;
  /** Which patch shows what a task changed. Throws NOT_A_REPOSITORY, and the errors of git. */
  readonly patchOf: (record: TaskRecord) => Promise<TaskPatch>;
  readonly readPatch: ReadPatch;
  /** Left out where no machine is set. */
  readonly far?: MachineTasks | undefined;
}

type ReadDiff = Omit<DiffState, 'comments'>;

/** Shows what a task changed, with the comments on it. Throws as `followTask`. */
export function openDiffFeed(options: DiffFeedOptions, put: Put, taskId: string): Promise<Disposable> {
  const { reviews } = options;
  /** What says that files may have changed, as it was when git was asked. */
  let seen = '';
  let read: ReadDiff = { files: [], notes: [], why: null, tree: null };
  let reviewed = 0;
  return followTask(options, put, taskId, (again, owned) => {
    owned.add(
      reviews.onDidChange((changed) => {
        if (changed !== taskId) return;
        reviewed++;
        again();
      }),
    );
    return async (record, left) => {
      const { status, turns, files_changed, worktree } = record;
      const now = JSON.stringify([status, turns, files_changed, worktree?.finished?.at, reviewed]);
      if (now !== seen) read = await readDiff(options, record, left);
      seen = now;
      const { files, ...facts } = read;
      const comments = await reviews.of(taskId);
      return new Map<string, unknown>([
        ...Object.entries(facts),
        ...files.map((file, number) => [`file/${number}`, file] as const),
        ...comments.map((comment, number) => [`comment/${number}`, comment] as const),
      ]);
    };
  });
}

async function readDiff(
  { patchOf, readPatch, far }: DiffFeedOptions,
  record: TaskRecord,
  signal: AbortSignal,
): Promise<ReadDiff> {
  const nothing = { files: [], notes: [], tree: null };
  try {
    const place = far?.placeOf(record.task_id);
    if (place !== undefined) return await readFarDiff(place, signal);
    const patch = await patchOf(record);
    const { tree = null } = patch;
    if (patch.state === 'nothing') return { ...nothing, why: patch.why, tree };
    const { files, notes } = await filesOfPatch((take) => readPatch(patch.query, take, signal));
    return { files, notes: [...patch.notes, ...notes], why: null, tree };
  } catch (error) {
    // What was shown stays until the line is back.
    if (!(error instanceof BridgeError) || error.code === 'MACHINE_UNREACHABLE') throw error;
    return { ...nothing, why: `${error.message} ${nextWords(error.next)}` };
  }
}

async function readFarDiff({ far, id }: FarPlace, signal: AbortSignal): Promise<ReadDiff> {
  const head = { isEmpty: true, notes: [] as readonly string[], tree: undefined as string | undefined };
  const { files, notes } = await filesOfPatch(async (take) =>
    Object.assign(head, await far.patch(id, take, signal)),
  );
  const tree = head.tree ?? null;
  if (head.isEmpty) return { files: [], notes: [], why: head.notes.join(' '), tree };
  return { files, notes: [...head.notes, ...notes], why: null, tree };
}
