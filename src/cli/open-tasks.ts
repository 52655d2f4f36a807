import { Command } from 'commander';
import { createStderrLogger } from '../base/logger.js';
import { VERSION } from '../base/package.js';
import type { AskChecks } from '../checks/allowed-checks.js';
import type { Verification } from '../checks/result.js';
import { loadConfig } from '../config/load-config.js';
import { ownPlaces } from '../config/own-places.js';
import { AllowedRoots } from '../projects/allowed-roots.js';
import { createTaskServices } from '../services/task-services.js';
import type { TaskQuery } from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import { addCommand, requireOutsideTasks, type CommandContext } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { findTask } from './find-task.js';

export const ID_WORDS = 'the id, its beginning or its last digits';
/** More tasks than a state directory holds. */
const MAX_LISTED = 10_000;
/** Ten checks of four hours, each twice. */
const MAX_VERIFY_MS = 80 * 3_600_000;
const noAbort = new AbortController().signal;

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
  const { tasks, finisher, stateDir, git } = services;
  const changes = git.ofTasks(stateDir);
  void services.sweepLeftovers();
  const list = async (query: TaskQuery): Promise<readonly TaskRecord[]> =>
    (await tasks.list({ ...query, limit: MAX_LISTED })).tasks;
  return {
    ...{ tasks, finisher, changes },
    /** Whether a question rings the bell of the terminal. */
    bell: config.notify.bell,
    patches: git.readPatch,
    statePath: stateDir.path,
    /** The task of an id or of a part of one, or the session with `isNative`; without, the only one that runs. Throws as `findTask`. */
    find: (given: string | undefined, isNative = native): Promise<TaskRecord> => {
      const ids = async () => (await list({ native: true })).map(({ task_id }) => task_id);
      const shelf = {
        ids: isNative ? ids : () => tasks.taskIds(''),
        read: (id: string) => tasks.get(id),
        active: () => list({ native: isNative, status: 'active' }),
      };
      const [one, parent] = isNative ? (['session', 'native'] as const) : (['task', 'tasks'] as const);
      return findTask(shelf, given, { one, list: `${command} ${parent} list` });
    },
    /** Undefined while the task runs. */
    receiptOf: (record: TaskRecord) => changes.receiptOf(record, noAbort),
    /** Runs the checks of a task in a clean copy, until Ctrl-C. `ask`: a person, where one has to allow that. */
    verify: async (record: TaskRecord, ask: AskChecks): Promise<Verification | undefined> => {
      const { Verifications } = await import('../services/verifications.js');
      const verifications = new Verifications({ stateDir, env, door: git.door, changes });
      process.once('SIGINT', () => void verifications.end());
      return verifications.verify(record, ask, MAX_VERIFY_MS);
    },
    dispose: () => services.dispose(),
  };
}
