import { systemClock } from '../base/clock.js';
import { createStderrLogger } from '../base/logger.js';
import { requireOutsideTasks } from './require-outside-tasks.js';
import { createTaskServices } from '../services/task-services.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import type { TaskManager } from '../tasks/task-manager.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { exitCodeOfEnd, exitCodes } from './exit-codes.js';
import { findTask } from './find-task.js';
import { followLog } from './attach/follow-log.js';
import { taskDetails, taskTable } from './tasks-text.js';
import { VERSION } from '../base/version.js';

/** Every task that a state directory can hold. */
const MAX_TASKS = 10_000;
const KILLED_BY_PERSON = 'Killed by claude-code-bridge tasks kill.';

export interface TasksOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly configPath?: string | undefined;
  readonly keeperEntry: string;
  /** For machines: one JSON value on stdout. */
  readonly json: boolean;
  readonly write: (text: string) => void;
}

export type TasksRequest =
  | { readonly what: 'list' }
  | { readonly what: 'show' | 'follow'; readonly task: string | undefined }
  | { readonly what: 'kill'; readonly task: string; readonly reason?: string | undefined }
  | { readonly what: 'prune'; readonly keep?: number | undefined };

/** `claude-code-bridge tasks …`: works with and without a running server. Resolves with the exit code. */
export async function runTasks(request: TasksRequest, options: TasksOptions): Promise<number> {
  if (request.what === 'kill' || request.what === 'prune')
    await requireOutsideTasks(options.env, 'end or remove tasks');
  const { config, source } = await loadConfig({ ...options, cwd: process.cwd() });
  // A command is no server: it must not keep a task alive that ends when its last server has gone.
  const asCommand = { ...config, on_disconnect: 'keep' } as const;
  const services = await createTaskServices(
    { ...options, config: asCommand, version: VERSION, logger: createStderrLogger('warn') },
    new AllowedRoots(
      config.allowed_roots,
      options.homeDir,
      ownPlaces(config, { ...options, settingsFile: source }),
    ),
  );
  const { tasks } = services;
  void services.sweepLeftovers();
  const { json, write } = options;
  const say = (value: unknown, text: string): void =>
    write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
  const named = (task: string | undefined): Promise<TaskRecord> =>
    findTask({ ids: () => tasks.taskIds(''), read: (id) => tasks.get(id) }, task);
  try {
    switch (request.what) {
      case 'list': {
        const { tasks: records } = await tasks.list({ limit: MAX_TASKS });
        say(records, taskTable(records, systemClock.now()));
        return exitCodes.done;
      }
      case 'show': {
        const record = await named(request.task);
        say(record, taskDetails(record, systemClock.now()));
        return exitCodes.done;
      }
      case 'follow':
        return await follow(tasks, await named(request.task), write);
      case 'kill': {
        const record = await named(request.task);
        const final = await tasks.kill(record.task_id, request.reason ?? KILLED_BY_PERSON);
        say(final, `${final.task_id} ${final.status}: ${final.reason}\n`);
        return exitCodes.done;
      }
      case 'prune': {
        const { removed, withWork } = await tasks.prune(request.keep);
        say(
          removed.map(({ task_id }) => task_id),
          [
            ...removed.map(({ task_id, status }) => `${task_id} (${status})\n`),
            ...withWork.map(({ task_id }) => `${task_id} stays: its worktree holds work (finish_task)\n`),
            `${removed.length} removed\n`,
          ].join(''),
        );
        return exitCodes.done;
      }
    }
  } finally {
    services.dispose();
  }
}

async function follow(
  tasks: TaskManager,
  record: TaskRecord,
  write: (text: string) => void,
): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let last = record;
  await followLog({
    clock: systemClock,
    page: async (cursor, maxBytes) => {
      const page = await tasks.output({ taskId: record.task_id, view: 'log', cursor, maxBytes });
      return { ...page, totalBytes: page.totalBytes ?? 0 };
    },
    isOver: async () => isFinal((last = await tasks.get(record.task_id)).status),
    write,
    signal: stop.signal,
  });
  return isFinal(last.status) ? exitCodeOfEnd(last.status) : exitCodes.done;
}
