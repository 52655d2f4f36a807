import type { Disposable } from '../base/lifecycle.js';
import { createStderrLogger } from '../base/logger.js';
import { VERSION } from '../base/package.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import type { GitServices } from '../services/git-services.js';
import { createTaskServices } from '../services/task-services.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskManager } from '../tasks/task-manager.js';
import type { TaskQuery } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import type { Receipt } from '../tasks/receipt/receipt.js';
import type { TaskChanges } from '../tasks/receipt/task-receipts.js';
import type { CommandContext } from './command-context.js';
import { findTask, type ShelfWords, type TaskShelf } from './find-task.js';

/** What every command about tasks is run with. */
export interface TaskCommandOptions extends Pick<
  CommandContext,
  'env' | 'homeDir' | 'configPath' | 'keeperEntry' | 'command'
> {
  /** Sessions that people started alone. */
  readonly native?: boolean;
}

/** The tasks of this user for a command, as a server sees them. */
export interface OpenTasks extends Disposable {
  readonly tasks: TaskManager;
  readonly finisher: TaskFinisher;
  readonly patches: GitServices['readPatch'];
  readonly statePath: string;
  /** Whether a question rings the bell of the terminal. */
  readonly bell: boolean;
  /** The task of an id or of the beginning of one; without, the only one that runs. Throws as `findTask`. */
  find(given: string | undefined): Promise<TaskRecord>;
  /** Undefined while the task runs. */
  receiptOf(record: TaskRecord): Promise<Receipt | undefined>;
  readonly changes: Pick<TaskChanges, 'patchOf'>;
}

/** More tasks than a state directory holds. */
const MAX_LISTED = 10_000;
const noAbort = new AbortController().signal;

/** Reads the settings and opens the state directory. Throws CONFIG_ERROR, STATE_UNUSABLE. */
export async function openTasks(options: TaskCommandOptions): Promise<OpenTasks> {
  const { command, native = false } = options;
  const words: ShelfWords = native
    ? { one: 'session', list: `${command} native list` }
    : { one: 'task', list: `${command} tasks list` };
  const { config, services } = await openServices(options);
  const { tasks, finisher, stateDir, git } = services;
  const receipts = git.ofTasks(stateDir);
  void services.sweepLeftovers();
  return {
    tasks,
    finisher,
    bell: config.notify.bell,
    patches: git.readPatch,
    statePath: stateDir.path,
    find: (given) => findTask(shelfOf(tasks, native), given, words),
    receiptOf: (record) => receipts.receiptOf(record, noAbort),
    changes: receipts,
    dispose: () => services.dispose(),
  };
}

async function openServices(options: TaskCommandOptions) {
  const { homeDir, command } = options;
  const { config, source, origins } = await loadConfig({ ...options, cwd: process.cwd() });
  // A command is no server: it must not keep a task alive that ends when its last server has gone.
  const asCommand = { ...config, on_disconnect: 'keep' } as const;
  const bridge = {
    ...options,
    config: asCommand,
    settingsFile: source,
    origins,
    version: VERSION,
    logger: createStderrLogger('warn'),
  };
  const roots = new AllowedRoots(config.allowed_roots, homeDir, ownPlaces(config, bridge), command);
  return { config, services: await createTaskServices(bridge, roots) };
}

function shelfOf(tasks: TaskManager, native: boolean): TaskShelf {
  const list = async (query: TaskQuery): Promise<readonly TaskRecord[]> =>
    (await tasks.list({ ...query, native, limit: MAX_LISTED })).tasks;
  return {
    ids: async () => (native ? (await list({})).map(({ task_id }) => task_id) : tasks.taskIds('')),
    read: (id) => tasks.get(id),
    active: () => list({ status: 'active' }),
  };
}
