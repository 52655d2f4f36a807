import { sleep, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { GitReport } from '../../tasks/receipt/receipt.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import type { TaskService } from '../../tasks/task-service.js';
import type { Channel } from '../channel.js';
import { JournalEvents } from '../journal-events.js';
import type { ReadPatch } from '../read-patch.js';
import { Refresher } from '../refresher.js';
import { CommitFiles } from './commit-files.js';
import { JournalMarks } from './marks.js';
import { RecordingThread } from './recording-thread.js';
import type { ThreadProgress } from './replay-messages.js';
import type {
  ReplayAction,
  ReplayFiles,
  ReplayPiece,
  ReplayPlace,
  ReplayScreenAt,
  ReplayState,
} from './replay-state.js';

/** How soon a page sees what a running task prints. */
const LOOK_EVERY_MS = 500;

export interface ReplayOptions {
  readonly tasks: TaskService;
  readonly recordingFile: (taskId: string) => string;
  /** What git sees of a task's work. */
  readonly reportOf: (record: TaskRecord) => Promise<GitReport>;
  readonly readPatch: ReadPatch;
  /** The built `replay-worker.ts`; default: the one next to the bundle of the board. */
  readonly replayWorker?: URL | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One recording while pages look at it: how far it was read, what stands on its timeline, and its pieces. */
export class ReplayFeed implements Disposable {
  readonly #options: ReplayOptions;
  readonly #taskId: string;
  readonly #channel: Channel<ReplayState, ReplayAction>;
  readonly #owned = new DisposableStore();
  readonly #left = new AbortController();
  readonly #thread: RecordingThread;
  readonly #refresher: Refresher;
  readonly #events: JournalEvents;
  readonly #marks = new JournalMarks();
  readonly #files: CommitFiles;

  constructor(options: ReplayOptions, taskId: string, channel: Channel<ReplayState, ReplayAction>) {
    const { tasks, recordingFile, replayWorker, clock } = options;
    this.#options = options;
    this.#taskId = taskId;
    this.#channel = channel;
    this.#thread = this.#owned.add(
      new RecordingThread({
        path: recordingFile(taskId),
        workerFile: replayWorker,
        onProgress: (progress) => this.#grew(progress),
      }),
    );
    this.#events = new JournalEvents(tasks, taskId);
    this.#files = new CommitFiles(options.reportOf, options.readPatch);
    this.#refresher = this.#owned.add(new Refresher(clock, () => this.#refresh()));
  }

  /** Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE. */
  async start(): Promise<void> {
    const { tasks } = this.#options;
    this.#owned.add(
      tasks.onDidChange((taskId) => {
        if (taskId === this.#taskId) this.#refresher.changed();
      }),
    );
    this.#owned.add(tasks.watch(this.#taskId));
    const record = await tasks.get(this.#taskId);
    this.#change({ is_live: !isFinal(record.status) });
    void this.#follow(record);
  }

  seek(ms: number): Promise<ReplayScreenAt> {
    return this.#thread.seek(ms);
  }

  read(from: ReplayPlace): Promise<ReplayPiece> {
    return this.#thread.read(from);
  }

  /** The files as a commit of the task has them. Throws REVISION_NOT_FOUND, and the errors of git. */
  files(commit: string, since: 'commit' | 'task'): Promise<ReplayFiles> {
    return this.#files.of(commit, since, this.#left.signal);
  }

  dispose(): void {
    this.#left.abort();
    this.#owned.dispose();
  }

  /** Reads the recording, and, as long as the task runs, what is added to it. */
  async #follow(record: TaskRecord): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      for (let isLast = false; !isLast && !this.#owned.isDisposed;) {
        // Before the look: what was written before the end is read by it.
        isLast = !this.#channel.state.is_live;
        await this.#thread.look();
        const isEmpty = this.#channel.state.began_ms === null;
        this.#change({ is_ready: true, why: isEmpty ? whyEmpty(record, isLast) : null });
        if (!isLast) await sleep(clock, LOOK_EVERY_MS, this.#left.signal);
      }
    } catch (error) {
      if (this.#owned.isDisposed) return;
      logger.warn('A recording could not be read', { taskId: this.#taskId, error: messageOf(error) });
      this.#change({ why: messageOf(error) });
    }
  }

  #grew({ began_ms, ...progress }: ThreadProgress): void {
    if (this.#owned.isDisposed) return;
    const { state } = this.#channel;
    if (began_ms !== state.began_ms) {
      this.#change({ began_ms });
      this.#refresher.changed();
    }
    const { first_ms, ready_ms, pauses } = progress;
    if (first_ms === state.first_ms && ready_ms === state.ready_ms && pauses.length === 0) return;
    this.#channel.dispatch({ type: 'replay.grew', ...progress });
  }

  async #refresh(): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      const record = await tasks.get(this.#taskId);
      this.#change({ is_live: !isFinal(record.status) });
      const { began_ms } = this.#channel.state;
      // Without a recording there is no timeline.
      if (began_ms === null) return;
      const marks = this.#marks.marksOf(await this.#events.next(), began_ms);
      if (marks.length > 0 && !this.#owned.isDisposed)
        this.#channel.dispatch({ type: 'replay.marked', marks });
      const commits = await this.#files.commits(record, began_ms);
      if (commits !== undefined) this.#change(commits);
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND') this.#change({ is_live: false });
      else logger.warn('A task could not be read', { taskId: this.#taskId, error: messageOf(error) });
    }
  }

  /** What is so already is not said again. */
  #change(change: Partial<Omit<ReplayState, 'pauses' | 'marks'>>): void {
    const before: Readonly<Record<string, unknown>> = { ...this.#channel.state };
    const isSame = Object.entries(change).every(([name, value]) => before[name] === value);
    if (!isSame && !this.#owned.isDisposed) this.#channel.dispatch({ type: 'replay.changed', ...change });
  }
}

function whyEmpty({ driver, keeper }: TaskRecord, hasEnded: boolean): string {
  if (driver === 'native') return 'The terminal of this session is its person’s: it is not recorded.';
  if (driver === 'print') return 'The task has no terminal: it runs Claude Code without one (driver print).';
  if (keeper === null && !hasEnded) return 'The task has not started yet.';
  return hasEnded ? 'Nothing of its terminal was recorded.' : 'Nothing was printed yet.';
}
