import { createStderrLogger } from '../base/logger.js';
import { systemClock } from '../base/system-clock.js';
import { VERSION } from '../base/package.js';
import type { Verification } from '../checks/result.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import { createTaskServices } from '../services/task-services.js';
import type { TaskQuery } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import type { CommandContext } from './command-context.js';
import { findTask } from './find-task.js';

/** What every command about tasks is run with. */
export interface TaskCommandOptions extends Pick<
  CommandContext,
  'env' | 'homeDir' | 'configPath' | 'keeperEntry' | 'command'
> {
  /** Sessions that people started alone. */
  readonly native?: boolean;
}

/** The tasks of this user for a command, as a server sees them. */
export type OpenTasks = Awaited<ReturnType<typeof openTasks>>;

/** More tasks than a state directory holds. */
const MAX_LISTED = 10_000;
/** Ten checks of four hours, each twice. */
const MAX_VERIFY_MS = 80 * 3_600_000;
const noAbort = new AbortController().signal;

/** Reads the settings and opens the state directory. Throws CONFIG_ERROR, STATE_UNUSABLE. */
export async function openTasks(options: TaskCommandOptions) {
  const { homeDir, command, native = false } = options;
  const { config, source, origins } = await loadConfig({ ...options, cwd: process.cwd() });
  const bridge = {
    ...options,
    // A command is no server: it must not keep a task alive that ends when its last server has gone.
    config: { ...config, on_disconnect: 'keep' } as const,
    settingsFile: source,
    origins,
    version: VERSION,
    logger: createStderrLogger('warn'),
  };
  const roots = new AllowedRoots(config.allowed_roots, homeDir, ownPlaces(config, bridge), command);
  const services = await createTaskServices(bridge, roots);
  const { tasks, finisher, stateDir, git } = services;
  const receipts = git.ofTasks(stateDir);
  void services.sweepLeftovers();
  const list = async (query: TaskQuery): Promise<readonly TaskRecord[]> =>
    (await tasks.list({ ...query, native, limit: MAX_LISTED })).tasks;
  const shelf = {
    ids: async () => (native ? (await list({})).map(({ task_id }) => task_id) : tasks.taskIds('')),
    read: (id: string) => tasks.get(id),
    active: () => list({ status: 'active' }),
  };
  const words = native
    ? ({ one: 'session', list: `${command} native list` } as const)
    : ({ one: 'task', list: `${command} tasks list` } as const);
  return {
    tasks,
    finisher,
    /** Whether a question rings the bell of the terminal. */
    bell: config.notify.bell,
    patches: git.readPatch,
    statePath: stateDir.path,
    /** The task of an id or of the beginning of one; without, the only one that runs. Throws as `findTask`. */
    find: (given: string | undefined) => findTask(shelf, given, words),
    /** Undefined while the task runs. */
    receiptOf: (record: TaskRecord) => receipts.receiptOf(record, noAbort),
    changes: receipts,
    /** Runs the checks of a task in a clean copy, until Ctrl-C. `ask`: a person, where one has to allow that. */
    verify: async (
      record: TaskRecord,
      ask: (question: string) => Promise<boolean>,
    ): Promise<Verification> => {
      const { Verifications } = await import('../services/verifications.js');
      const shared = { stateDir, clock: systemClock, door: git.door, changes: receipts };
      const verifications = new Verifications({ ...shared, env: bridge.env });
      process.once('SIGINT', () => void verifications.end());
      const question = await verifications.question(record);
      const isAllowed = question !== undefined && (await ask(question));
      const found = await verifications.verify(record, MAX_VERIFY_MS, isAllowed);
      if (found === undefined) throw new Error('the checks took longer than checks may');
      return found;
    },
    dispose: () => services.dispose(),
  };
}
