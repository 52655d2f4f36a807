import { Command } from 'commander';
import { farIdOf } from '../base/ids.js';
import { createStderrLogger } from '../base/logger.js';
import { VERSION } from '../base/package.js';
import type { AskChecks } from '../checks/allowed-checks.js';
import type { Verification } from '../checks/result.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { modeSettings } from '../config/permission-modes.js';
import type { TakeChunk } from '../os/run-program.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import type { BridgeOptions } from '../services/open-state.js';
import { createTaskServices } from '../services/task-services.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskPage, TaskQuery, TaskService } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import { addCommand, requireOutsideTasks, type CommandContext } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { findTask } from './find-task.js';
import type { FarTasks } from './machines/far-tasks.js';

export const ID_WORDS = 'the id, its beginning or its last digits';
/** More tasks than a state directory holds. */
const MAX_LISTED = 10_000;
const noAbort = new AbortController().signal;

type Finisher = Pick<TaskFinisher, 'unmet' | 'worksBeside' | 'finish'>;

/** What a command works with. */
export interface Room extends OpenTasks {
  /** Whether JSON was asked for. */
  readonly json: boolean;
  /** Prints the value where JSON was asked for, else the text. */
  readonly print: (value: unknown, text: string) => ExitCode;
}

/** What the commands of `tasks`, or those of `native`, share. */
export interface Group {
  readonly context: CommandContext;
  /** Sessions that people started, and no tasks. */
  readonly native: boolean;
  /** A command that prints text, with its examples. */
  readonly addText: (name: string, description: string, ...examples: string[]) => Command;
  /** One that prints JSON, too. */
  readonly add: Group['addText'];
  /** The action of a command; `act`: what it does, for one that changes something and is refused inside a task. */
  readonly act: <A extends unknown[]>(
    act: string | undefined,
    run: (room: Room, ...given: A) => Promise<ExitCode>,
  ) => (...given: A) => Promise<void>;
}

/** The commands of `parent`, which run with and without a running server. */
export function groupOf(parent: Command, context: CommandContext, native: boolean): Group {
  const addText: Group['addText'] = (name, description, ...examples) =>
    addCommand(parent, context, name, description, ...examples);
  return {
    ...{ context, native, addText },
    add: (...words) => addText(...words).option('--json', 'print one JSON value instead of text'),
    act: (act, run) =>
      context.ending(async (...given) => {
        if (act !== undefined) await requireOutsideTasks(context.env, act);
        const command = given.at(-1);
        const json = command instanceof Command && command.opts<{ json?: boolean }>().json === true;
        const opened = await openTasks(context, native);
        const print: Room['print'] = (value, text) => {
          void context.output.write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
          return exitCodes.done;
        };
        return run({ ...opened, json, print }, ...given).finally(() => opened.dispose());
      }),
  };
}

/** The tasks of this user for a command, as a server sees them. */
export type OpenTasks = Awaited<ReturnType<typeof openTasks>>;

/** Reads the settings and opens the state directory. `native`: sessions that people started alone. Throws CONFIG_ERROR, STATE_UNUSABLE. */
export async function openTasks(
  { env, homeDir, configPath, keeperEntry, command }: CommandContext,
  native = false,
) {
  const { config, source, origins } = await loadConfig({ env, homeDir, configPath, cwd: process.cwd() });
  const bridge = {
    ...{ env, homeDir, keeperEntry, command, origins },
    // A command is no server: it must not keep a task alive that ends when its last server has gone.
    config: { ...config, on_disconnect: 'keep' } as const,
    settingsFile: source,
    version: VERSION,
    logger: createStderrLogger('warn'),
  };
  const roots = new AllowedRoots(config.allowed_roots, homeDir, ownPlaces(config, bridge), command);
  const services = await createTaskServices(bridge, roots);
  const { tasks, stateDir, git } = services;
  const changes = git.ofTasks(stateDir);
  const far = native ? undefined : await farTasksOf(bridge, tasks);
  const receipts = far?.tasks.receiptsWith(changes) ?? changes;
  void services.sweepLeftovers();
  const list = (query: TaskQuery): Promise<TaskPage> => (far ?? tasks).list({ ...query, limit: MAX_LISTED });
  const isFar = (record: Pick<TaskRecord, 'task_id'>): boolean => farIdOf(record.task_id) !== undefined;
  return {
    /** Those of this machine. */
    local: tasks,
    tasks: far?.tasks ?? tasks,
    /** Those of other machines; undefined where the settings have none. */
    far,
    list,
    finisher: far === undefined ? services.finisher : finisherOf(services.finisher, far),
    /** Whether a question rings the bell of the terminal. */
    bell: config.notify.bell,
    statePath: stateDir.path,
    /** Passes on what a task changed, as `git diff` does; resolves with what is to be said about it. Throws as `patchOf`, and the errors of git. */
    patch: async (record: TaskRecord, take: TakeChunk, lost: AbortSignal): Promise<readonly string[]> => {
      const place = far?.tasks.placeOf(record.task_id);
      if (place !== undefined) return (await place.far.patch(place.id, take, lost)).notes;
      const patch = await changes.patchOf(record);
      if (patch.state === 'nothing') return [patch.why];
      await git.readPatch(patch.query, take, lost);
      return patch.notes;
    },
    /** The task of an id or of a part of one, or the session with `isNative`; without, the only one that runs. Throws as `findTask`. */
    find: (given: string | undefined, isNative = native): Promise<TaskRecord> => {
      const listed = async (query: TaskQuery) => (await tasks.list({ ...query, limit: MAX_LISTED })).tasks;
      const ids = async () => (await listed({ native: true })).map(({ task_id }) => task_id);
      const shelf = {
        ids: isNative ? ids : () => tasks.taskIds(''),
        read: (id: string) => tasks.get(id),
        active: () => listed({ native: isNative, status: 'active' }),
      };
      const [one, parent] = isNative ? (['session', 'native'] as const) : (['task', 'tasks'] as const);
      const words = { one, list: `${command} ${parent} list` };
      return far === undefined || isNative ? findTask(shelf, given, words) : far.find(given, shelf, words);
    },
    /** Undefined while the task runs. */
    receiptOf: (record: TaskRecord) => receipts.receiptOf(record, noAbort),
    /** Runs the checks of a task in a clean copy, until Ctrl-C. `ask`: a person, where one has to allow that. */
    verify: async (record: TaskRecord, ask: AskChecks): Promise<Verification | undefined> => {
      if (far !== undefined && isFar(record)) return far.verify(record);
      const { Verifications } = await import('../services/verifications.js');
      const verifications = new Verifications({ stateDir, env, door: git.door, changes });
      process.once('SIGINT', () => void verifications.end());
      return verifications.verify(record, ask, Infinity);
    },
    dispose: () => {
      far?.dispose();
      services.dispose();
    },
  };
}

/** Loaded only where the settings have machines. */
async function farTasksOf(bridge: BridgeOptions, local: TaskService): Promise<FarTasks | undefined> {
  const { config, origins = {} } = bridge;
  if (Object.keys(config.machines).length === 0) return undefined;
  const [{ FarTasks }, { openMachines }] = await Promise.all([
    import('./machines/far-tasks.js'),
    import('../machines/machines.js'),
  ]);
  return new FarTasks(local, openMachines(bridge), {
    modes: modeSettings(config, origins),
    rules: config.rules,
  });
}

/** Of a task of another machine its bridge says what is not met, and what works beside it. */
function finisherOf(local: TaskFinisher, far: FarTasks): Finisher {
  return {
    unmet: (record, ...more) =>
      far.machineOf(record) === undefined ? local.unmet(record, ...more) : Promise.resolve(undefined),
    worksBeside: (record, action) =>
      far.machineOf(record) === undefined ? local.worksBeside(record, action) : Promise.resolve(undefined),
    finish: (query) => far.tasks.finish(query, local),
  };
}
