import { join } from 'node:path';
import { commandOf } from '../../approvals/tool-table.js';
import { Closers } from '../../base/closers.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/system-clock.js';
import { isTooOld, tooOld } from '../../claude/installation.js';
import type { SessionDriver, SessionGuard } from '../../claude/session.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { killTree } from '../../pty/kill-ladder.js';
import { PtyManager } from '../../pty/pty-manager.js';
import { identityOf } from '../../store/process-identity.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { StateDir } from '../../store/state-dir.js';
import { TaskQueue } from '../../tasks/queue/task-queue.js';
import { DaySpending } from '../../tasks/budget/day-spending.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { initialRecord } from '../../tasks/record/initial-record.js';
import { ReadableLog } from '../../tasks/run/readable-log.js';
import { TaskRun } from '../../tasks/run/task-run.js';
import { KeeperHost } from '../host/keeper-host.js';
import type { KeeperProgram } from '../host/launch-keeper.js';
import { watchServers } from '../host/servers-there.js';
import type { TaskNotices } from '../notices/task-notices.js';
import { createDriver } from './create-driver.js';
import { FULL_DISK_LIMIT_MS } from './full-disk-limit.js';
import { KeeperServer } from './keeper-server.js';
import { openTask, type OpenTask } from './open-task.js';
import { TaskRules } from './task-judge.js';
import type { KeepTaskOptions } from './task-plan.js';
import { TaskProcesses } from './task-processes.js';
import { TaskReceipt } from './task-receipt.js';

/**
 * Runs one task from its start to its end. Resolves when the task has ended and all its processes are gone; rejects when it could
 * not be started, with nothing left behind.
 */
export async function keepTask(options: KeepTaskOptions): Promise<void> {
  const closers = new Closers(options.logger);
  try {
    await runTask(await openTask(options, closers), options, closers);
  } finally {
    await closers.close();
  }
}

const clock = systemClock;

/** Runs the task until it has ended and its end is written. Rejects when it could not be started. */
async function runTask(task: OpenTask, options: KeepTaskOptions, closers: Closers): Promise<void> {
  const { run, server, receipt } = await openRun(task, options, closers);
  const before = receipt.firstSnapshot();
  const notices = await noticesOf(task, run, closers);
  // What the agent, or a hook of the project, does from the first moment on belongs to the task.
  await before;
  await run.start();
  task.hasStarted();
  options.onReady(run.record);
  checkVersion(run, task);
  await run.ended;
  // The socket still serves the end, which is known nowhere else until the record is on disk.
  await task.store.finish(FULL_DISK_LIMIT_MS);
  await server.finish();
  await receipt.finish(run.record);
  await notices?.finish();
}

/** Loaded only where notices are sent. */
async function noticesOf(
  { spec, env, logger }: OpenTask,
  run: TaskRun,
  closers: Closers,
): Promise<TaskNotices | undefined> {
  const { notify } = spec.settings;
  if (notify === undefined) return undefined;
  const { openNotices } = await import('../notices/open-notices.js');
  return closers.owns('the notices', openNotices({ task: run, settings: notify, env, clock, logger }));
}

async function openRun(task: OpenTask, options: KeepTaskOptions, closers: Closers) {
  const { spec, stateDir, logger, childEnv, socketPath, agent, store } = task;
  const env = { ...childEnv, ...agent.container?.seenHere };
  const receipt = new TaskReceipt(task, env);
  const processes = new TaskProcesses(task);
  let server: KeeperServer | undefined = undefined;
  let run: TaskRun | undefined = undefined;
  const rules = new TaskRules({
    spec,
    projectRules: agent.sleeping?.rules ?? [],
    trusted: agent.trusted,
    plansFolder: plansFolderOf(agent.env),
    mode: () => run?.record.permission_mode ?? spec.permission_mode,
    refusal: async (call) => run?.refusal(call),
    beforeCall: async ({ tool, input }) => {
      if (commandOf(tool, input) !== undefined) await agent.sandboxed?.beforeCommand();
    },
  });
  const driver = openDriver(task, processes, rules, closers);
  run = closers.owns(
    'the run',
    openTaskRun(task, { driver, processes, rules, onFlush: () => server?.recordTyped() }),
  );
  store.follow(run);
  options.onRun(run);
  server = closers.owns(
    'the server of the socket',
    await KeeperServer.start({
      run,
      socketPath,
      clock,
      logger,
      terminal: {
        terminal: () => driver.terminal,
        journal: store.journal,
        recording: store.recording,
        hold: () => run.hold(),
      },
    }),
  );
  const { stop_without_server_seconds: graceSeconds } = spec.settings;
  if (graceSeconds !== undefined) {
    const onAlone = (reason: string) => void run?.kill(reason);
    const watch = watchServers({ statePath: stateDir.path, clock, logger, graceSeconds, onAlone });
    closers.owns('the watch for servers', watch);
  }
  return { run, server, receipt };
}

/** In the folder of its settings. */
function plansFolderOf(env: Readonly<Record<string, string>>): string | undefined {
  const folder = claudeConfigDir(env);
  return folder === undefined ? undefined : join(folder, 'plans');
}

function openDriver(
  task: OpenTask,
  processes: TaskProcesses,
  guard: SessionGuard,
  closers: Closers,
): SessionDriver {
  const { spec, agent, store } = task;
  const { container } = agent;
  const driver = createDriver(task, {
    pty: container?.terminals ?? closers.owns('the terminals', new PtyManager({ clock })),
    killTree: async (pid) => {
      if (container !== undefined) return container.terminals.end();
      // A print session runs on pipes, with no shell around it.
      return processes.end(pid, spec.driver !== 'print');
    },
    guard,
  });
  store.screenStateFrom(() => driver.terminal?.recordedState() ?? '');
  return driver;
}

interface RunParts {
  readonly driver: SessionDriver;
  readonly processes: TaskProcesses;
  readonly rules: TaskRules;
  readonly onFlush: () => void;
}

function openTaskRun(task: OpenTask, { driver, processes, rules, onFlush }: RunParts): TaskRun {
  const { spec, stateDir, logger, store } = task;
  const { container } = task.agent;
  return new TaskRun(
    {
      spec,
      clock,
      logger,
      driver,
      journal: store.journal,
      log: new ReadableLog(store.log, clock),
      records: store.records,
      spending: new DaySpending(stateDir, spec.task_id, clock),
      check: (request, mode) => rules.check(request, mode),
      rules: rules.rules,
      endLeftovers: async () => {
        await container?.terminals.end();
        return processes.endLeftovers();
      },
      realPath: realPathOfNearest,
      // A process in a container has no pid here.
      identify: container === undefined ? identityOf : () => Promise.resolve(undefined),
      flush: () => {
        onFlush();
        return store.flush();
      },
      release: task.releaseProject,
    },
    initialRecord({
      ...task,
      files: task.projectFiles,
      now: clock.now(),
      notes: task.agent.notes,
    }),
  );
}

/** The version is read while the session runs, so that no start waits for it. */
function checkVersion(run: TaskRun, { agent, logger }: OpenTask): void {
  if (!agent.installation.isClaude) return;
  agent.version().then(
    (version) => {
      if (version === undefined) return;
      run.setVersion(version);
      if (isTooOld(version)) run.refuse(tooOld(version).message);
    },
    (error: unknown) => logger.warn('the version of Claude Code is not known', { error: messageOf(error) }),
  );
}

/** Time between SIGTERM and SIGKILL for processes of a dead keeper. */
const LEFTOVER_GRACE_MS = 1_000;

/** Starts what waits for the project of a task that has ended, so that the queue goes on without a server. */
export async function continueQueue(options: KeeperProgram & { readonly logger: Logger }): Promise<void> {
  const { logger } = options;
  const stateDir = new StateDir(options.statePath);
  const locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
    logger.error('a lock file could not be read', { ...corrupt }),
  );
  const host = new KeeperHost({ ...options, stateDir, runtimeDir: new RuntimeDir(options.runtimePath) });
  const endMarked: EndMarked = async (mark, startedSince) =>
    (await killTree({ mark, startedSince, clock, graceMs: LEFTOVER_GRACE_MS })).ended.length;
  const modesNow = async ({ settings }: TaskSpec) =>
    (await import('../../config/load-config.js')).modesNow({ ...options.env }, settings.settings_file);
  const queue = new TaskQueue({ stateDir, locks, host, clock, logger, endMarked, modesNow, staysOn: false });
  try {
    await queue.advance();
  } finally {
    queue.dispose();
  }
}
