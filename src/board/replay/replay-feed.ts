import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { DisposableStore } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import type { TaskService } from '../../tasks/task-service.js';
import { Channel } from '../channel.js';
import type { OpenChannel } from '../channels.js';
import { JournalEvents } from '../journal-events.js';
import { Refresher } from '../refresher.js';
import { commitsOf, type CommitSources } from './commit-files.js';
import { boundedMarks, JournalMarks } from './marks.js';
import type { ReplayMark, ReplayState } from './replay-state.js';

export interface ReplayFeedOptions extends Pick<CommitSources, 'reportOf'> {
  readonly tasks: TaskService;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens what is around the recording of a task. Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE. */
export async function openReplayFeed(options: ReplayFeedOptions, taskId: string): Promise<OpenChannel> {
  const feed = new ReplayFeed(options, taskId);
  try {
    await feed.start();
  } catch (error) {
    feed.dispose();
    throw error;
  }
  return feed;
}

class ReplayFeed implements OpenChannel {
  readonly channel: Channel;
  readonly #options: ReplayFeedOptions;
  readonly #taskId: string;
  readonly #owned = new DisposableStore();
  readonly #journal: JournalEvents;
  readonly #found = new JournalMarks();
  readonly #refresher: Refresher;
  #marks: readonly ReplayMark[] = [];
  #commits: Pick<ReplayState, 'commits' | 'files_why'> = { commits: [], files_why: null };
  /** What of the record says that there may be other commits, as it was when git was asked. */
  #seen = '';

  constructor(options: ReplayFeedOptions, taskId: string) {
    const { tasks, clock } = options;
    this.#options = options;
    this.#taskId = taskId;
    this.channel = this.#owned.add(new Channel(`replay:/${taskId}`, clock));
    this.#journal = new JournalEvents(tasks, taskId);
    this.#refresher = this.#owned.add(new Refresher(clock, () => this.#refresh()));
  }

  async start(): Promise<void> {
    const { tasks } = this.#options;
    this.#owned.add(
      tasks.onDidChange((taskId) => {
        if (taskId === this.#taskId) this.#refresher.changed();
      }),
    );
    this.#owned.add(tasks.watch(this.#taskId));
    await this.#readMarks(await tasks.get(this.#taskId));
    this.#refresher.changed();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  async #refresh(): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      const record = await tasks.get(this.#taskId);
      await this.#readMarks(record);
      await this.#readCommits(record);
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND')
        this.channel.put(new Map([...this.channel.values, ['is_live', false]]));
      else logger.warn('A task could not be read', { taskId: this.#taskId, error: messageOf(error) });
    }
  }

  async #readMarks(record: TaskRecord): Promise<void> {
    const fresh = this.#found.marksOf(await this.#journal.next());
    this.#marks = boundedMarks([...this.#marks, ...fresh]);
    this.#put(record);
  }

  async #readCommits(record: TaskRecord): Promise<void> {
    const { status, turns, activity, files_changed, worktree } = record;
    const seen = JSON.stringify([status, turns, activity, files_changed, worktree?.finished?.at]);
    if (seen === this.#seen) return;
    this.#commits = await commitsOf(this.#options, record);
    this.#seen = seen;
    this.#put(record);
  }

  #put(record: TaskRecord): void {
    if (this.#owned.isDisposed) return;
    const { commits, files_why } = this.#commits;
    this.channel.put(
      new Map<string, unknown>([
        ['is_live', !isFinal(record.status)],
        ['why_empty', whyEmpty(record)],
        ['files_why', files_why],
        ...this.#marks.map((mark) => [`mark/${mark.seq}`, mark] as const),
        ...commits.map((commit, number) => [`commit/${number}`, commit] as const),
      ]),
    );
  }
}

function whyEmpty({ driver, keeper, status }: TaskRecord): string {
  if (driver === 'native') return 'The terminal of this session is its person’s: it is not recorded.';
  if (driver === 'print') return 'The task has no terminal: it runs Claude Code without one (driver print).';
  if (keeper === null && !isFinal(status)) return 'The task has not started yet.';
  return isFinal(status) ? 'Nothing of its terminal was recorded.' : 'Nothing was printed yet.';
}
