import { join } from 'node:path';
import { commandOf } from '../../approvals/tool-table.js';
import { Closers } from '../../base/lifecycle.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { isTooOld, tooOld } from '../../claude/installation.js';
import type { Pid } from '../../os/pid.js';
import type { SessionDriver, SessionGuard } from '../../claude/session.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { killTree, type KillReport, type KillTarget } from '../../pty/kill-ladder.js';
import { PtyManager } from '../../pty/pty-manager.js';
import { identityOf } from '../../store/process-identity.js';
import { DaySpending } from '../../tasks/budget/day-spending.js';
import { initialRecord } from '../../tasks/record/initial-record.js';
import { ReadableLog } from '../../tasks/run/readable-log.js';
import { TaskRun } from '../../tasks/run/task-run.js';
import { watchServers } from '../host/servers-there.js';
import type { TaskNotices } from '../notices/task-notices.js';
import { createDriver } from './create-driver.js';
import { FULL_DISK_LIMIT_MS } from '../wire/keeper-socket.js';
import { KeeperServer } from './keeper-server.js';
import { openTask, type OpenTask } from './open-task.js';
import type { KeepTaskOptions } from './task-plan.js';
import { TaskRules } from './task-judge.js';
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

/** Time between SIGTERM and SIGKILL for processes that are left when the agent is gone. */
const LEFTOVER_GRACE_MS = 1_000;

/**
 * Ends the processes of one task, in one call after the other: when an agent exits at SIGTERM, its children have the whole grace time
 * of that SIGTERM to clean up before leftovers are ended.
 */
class TaskProcesses {
  readonly #task: OpenTask;
  #running: Promise<unknown> = Promise.resolve();

  constructor(task: OpenTask) {
    this.#task = task;
  }

  /** Ends the agent with all that belongs to it. `isWrapped` as in KillTarget. */
  async end(pid: Pid | undefined, isWrapped: boolean): Promise<void> {
    const { remaining } = await this.#kill({ pid, isWrapped });
    if (remaining.length > 0)
      this.#task.logger.error('processes could not be ended', { pids: remaining.map((one) => one.pid) });
  }

  /** Ends what the agent left behind; resolves with the names of those programs. */
  async endLeftovers(): Promise<readonly string[]> {
    const { ended } = await this.#kill({ graceMs: LEFTOVER_GRACE_MS });
    // The shell around the agent is this process's own child, and may take a moment to go.
    return ended.filter(({ parentPid }) => parentPid !== process.pid).map(({ name }) => name);
  }

  #kill(target: Pick<KillTarget, 'pid' | 'isWrapped' | 'graceMs'>): Promise<KillReport> {
    const { mark, owner } = this.#task;
    // Nothing that ran before this keeper can be its task's.
    const family = { mark, startedSince: owner.start_time ?? undefined };
    const report = this.#running.then(() => killTree({ ...target, ...family, clock: systemClock }));
    // The caller gets the error; the next call runs anyway.
    this.#running = report.catch(() => undefined);
    return report;
  }
}
