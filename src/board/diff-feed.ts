import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel } from './channel.js';
import type { OpenChannel } from './channels.js';
import { lineText } from './parse-hunks.js';
import { filesOfPatch, type ReadPatch } from './read-patch.js';
import { Refresher } from './refresher.js';
import { shownComment, type Reviews, type StoredComment } from './reviews.js';
import type { DiffFile, DiffState } from './state.js';

export interface DiffFeedOptions {
  readonly tasks: TaskService;
  readonly reviews: Reviews;
  /** Which patch shows what a task changed. Throws NOT_A_REPOSITORY, and the errors of git. */
  readonly patchOf: (record: TaskRecord) => Promise<TaskPatch>;
  readonly readPatch: ReadPatch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens what a task changed, with the comments on it. Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE. */
export async function openDiffFeed(options: DiffFeedOptions, taskId: string): Promise<OpenChannel> {
  const feed = new DiffFeed(options, taskId);
  try {
    await feed.start();
  } catch (error) {
    feed.dispose();
    throw error;
  }
  return feed;
}

type ReadDiff = Pick<DiffState, 'files' | 'notes' | 'why' | 'tree'>;

class DiffFeed implements OpenChannel {
  readonly channel: Channel;
  readonly #options: DiffFeedOptions;
  readonly #taskId: string;
  readonly #owned = new DisposableStore();
  readonly #left = new AbortController();
  /** What of the record says that files may have changed, as it was when git was asked. */
  #seen = '';
  #read: ReadDiff = { files: [], notes: [], why: null, tree: null };
  /** How often reviews have changed. */
  #reviewed = 0;

  constructor(options: DiffFeedOptions, taskId: string) {
    this.#options = options;
    this.#taskId = taskId;
    this.channel = this.#owned.add(new Channel(`diff:/${taskId}`, options.clock));
  }

  async start(): Promise<void> {
    const { tasks, reviews, clock } = this.#options;
    const refresher = this.#owned.add(new Refresher(clock, () => this.#refresh()));
    const ofTask = (taskId: string): void => {
      if (taskId === this.#taskId) refresher.changed();
    };
    this.#owned.add(tasks.onDidChange(ofTask));
    this.#owned.add(reviews.onDidChange(() => this.#reviewed++));
    this.#owned.add(reviews.onDidChange(ofTask));
    this.#owned.add(tasks.watch(this.#taskId));
    await this.#lookAt(await tasks.get(this.#taskId));
  }

  dispose(): void {
    this.#left.abort();
    this.#owned.dispose();
  }

  async #refresh(): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      await this.#lookAt(await tasks.get(this.#taskId));
    } catch (error) {
      const told = { taskId: this.#taskId, error: messageOf(error) };
      logger.warn('What a task changed could not be read', told);
    }
  }

  async #lookAt(record: TaskRecord): Promise<void> {
    const { status, turns, files_changed, worktree } = record;
    const seen = JSON.stringify([status, turns, files_changed, worktree?.finished?.at, this.#reviewed]);
    if (seen !== this.#seen) {
      const read = await this.#readDiff(record);
      if (this.#owned.isDisposed) return;
      this.#seen = seen;
      this.#read = read;
    }
    const { files, ...facts } = this.#read;
    const stored = await this.#options.reviews.of(this.#taskId);
    const comments = stored.map((one) => shownComment(one, (comment) => isThere(comment, files)));
    if (this.#owned.isDisposed) return;
    this.channel.put(
      new Map<string, unknown>([
        ...Object.entries(facts),
        ...files.map((file, number) => [`file/${number}`, file] as const),
        ...comments.map((comment, number) => [`comment/${number}`, comment] as const),
      ]),
    );
  }

  async #readDiff(record: TaskRecord): Promise<ReadDiff> {
    const { patchOf, readPatch } = this.#options;
    try {
      const patch = await patchOf(record);
      const { tree = null } = patch;
      if (patch.state === 'nothing') return { files: [], notes: [], why: patch.why, tree };
      const { files, notes } = await filesOfPatch(readPatch, patch.query, this.#left.signal);
      return { files, notes: [...patch.notes, ...notes], why: null, tree };
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return { files: [], notes: [], why: `${error.message} ${error.hint}`, tree: null };
    }
  }
}

/** Whether a changed file still has the line of a comment; a file that is no longer changed has not. */
function isThere({ file, side, quoted }: StoredComment, files: readonly DiffFile[]): boolean {
  const signs = side === 'old' ? ['-', ' '] : ['+', ' '];
  // A file that became a link is there twice: as the one that went, and as the one that came.
  return files
    .filter(({ path }) => path === file)
    .some(({ hunks }) =>
      hunks.split('\n').some((line) => signs.includes(line.charAt(0)) && lineText(line) === quoted),
    );
}
