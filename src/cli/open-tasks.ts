import { createStderrLogger } from '../base/logger.js';
import type { Disposable } from '../base/lifecycle.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import { createReceiptGit, createReceiptService } from '../services/receipt-service.js';
import { createFilesPatches, type FilesPatches } from '../services/files-patches.js';
import { createTaskServices } from '../services/task-services.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskManager } from '../tasks/task-manager.js';
import type { TaskRecord } from '../tasks/task.js';
import type { GitReport, Receipt } from '../tasks/receipt/receipt.js';
import { findTask, wordsFor, type TaskShelf } from './find-task.js';
import { VERSION } from '../base/version.js';

/** What every command about tasks is run with. */
export interface TaskCommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly configPath?: string | undefined;
  readonly keeperEntry: string;
  /** How a person runs this program, for words about what to do next. */
  readonly command: string;
  /** Sessions that people started alone. */
  readonly native?: boolean;
}

/** The tasks of this user for a command, as a server sees them. */
export interface OpenTasks extends Disposable {
  readonly tasks: TaskManager;
  readonly finisher: TaskFinisher;
  readonly patches: FilesPatches;
  readonly statePath: string;
  /** Whether a question rings the bell of the terminal. */
  readonly bell: boolean;
  /** The task of an id or of the beginning of one; without, the only one that runs. Throws as `findTask`. */
  find(given: string | undefined): Promise<TaskRecord>;
  /** Undefined while the task runs. */
  receiptOf(record: TaskRecord): Promise<Receipt | undefined>;
  /** What git sees of the task's work: of one that has ended, as its receipt says. */
  gitReportOf(record: TaskRecord): Promise<GitReport>;
}

/** More sessions than a state directory holds. */
const MAX_SESSIONS = 10_000;
const noAbort = new AbortController().signal;

/** Reads the settings and opens the state directory. Throws CONFIG_ERROR, STATE_UNUSABLE. */
export async function openTasks(options: TaskCommandOptions): Promise<OpenTasks> {
  const { command } = options;
  const { bridge, roots, services } = await openServices(options);
  const { config } = bridge;
  const { tasks, finisher, stateDir } = services;
  const receipts = createReceiptService(bridge, roots, stateDir);
  void services.sweepLeftovers();
  return {
    tasks,
    finisher,
    bell: config.notify.bell,
    patches: createFilesPatches(bridge, roots),
    statePath: stateDir.path,
    find: (given) =>
      findTask(shelfOf(tasks, options.native === true), given, wordsFor(command, options.native)),
    receiptOf: (record) => receipts.receiptOf(record, noAbort),
    gitReportOf: async (record) =>
      (await receipts.receiptOf(record, noAbort))?.git ??
      createReceiptGit(bridge, roots, stateDir).report(record),
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
    listsSessions: options.native === true,
  };
  const roots = new AllowedRoots(config.allowed_roots, homeDir, ownPlaces(config, bridge), command);
  const services = await createTaskServices(bridge, roots);
  return { bridge, roots, services };
}

function shelfOf(tasks: TaskManager, isNative: boolean): TaskShelf {
  return {
    ids: async () => {
      if (!isNative) return tasks.taskIds('');
      const { tasks: sessions } = await tasks.list({ native: true, limit: MAX_SESSIONS });
      return sessions.map(({ task_id }) => task_id);
    },
    read: (id) => tasks.get(id),
  };
}
