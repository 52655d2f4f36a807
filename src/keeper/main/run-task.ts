import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../../base/system-clock.js';
import type { Closers } from '../../base/closers.js';
import { messageOf } from '../../base/errors.js';
import { isTooOld, tooOld } from '../../claude/installation.js';
import { commandOf } from '../../approvals/tool-table.js';
import type { SessionDriver, SessionGuard } from '../../claude/session.js';
import { claudeConfigDir } from '../../claude/transcript-files.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { PtyManager } from '../../pty/pty-manager.js';
import { identityOf } from '../../store/process-identity.js';
import { DaySpending } from '../../tasks/budget/day-spending.js';
import { initialRecord } from '../../tasks/record/initial-record.js';
import { ReadableLog } from '../../tasks/run/readable-log.js';
import { TaskRun } from '../../tasks/run/task-run.js';
import { createDriver } from './create-driver.js';
import { FULL_DISK_LIMIT_MS } from './full-disk-limit.js';
import { endChildren } from '../host/end-children.js';
import { KeeperServer } from './keeper-server.js';
import type { TaskNotices } from '../notices/task-notices.js';
import type { OpenTask } from './open-task.js';
import { TaskRules } from './task-judge.js';
import type { KeepTaskOptions } from './task-plan.js';
import { TaskProcesses } from './task-processes.js';
import { TaskReceipt } from './task-receipt.js';

const clock = systemClock;

interface RunningTask {
  readonly run: TaskRun;
  readonly server: KeeperServer;
  readonly receipt: TaskReceipt;
}

/** Runs the task until it has ended and its end is written. Rejects when it could not be started. */
export async function runTask(task: OpenTask, options: KeepTaskOptions, closers: Closers): Promise<void> {
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

/** Loaded only where someone is to be told. */
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

async function openRun(task: OpenTask, options: KeepTaskOptions, closers: Closers): Promise<RunningTask> {
  const { spec, stateDir, logger, childEnv, socketPath, agent, store } = task;
  const env = { ...childEnv, ...agent.container?.seenHere };
  const receipt = new TaskReceipt({ spec, stateDir, clock, logger, env });
  // Nothing that ran before this keeper can be its task's.
  const startedSince = task.owner.start_time ?? undefined;
  const processes = new TaskProcesses({ mark: task.mark, startedSince, clock, logger });
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
      stopWithoutServerSeconds: spec.settings.stop_without_server_seconds,
    }),
  );
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
  const { spec, stateDir, logger, agent, store, prompt } = task;
  const { installation, container, sandboxed, env } = agent;
  const driver = createDriver({
    spec,
    installation,
    clock,
    pty: container?.terminals ?? closers.owns('the terminals', new PtyManager({ clock })),
    spawnPiped: container?.terminals.spawnPiped,
    env,
    sandbox: sandboxed?.sandbox,
    prompt,
    promptFile: stateDir.promptFile(spec.task_id),
    sessionId: randomUUID(),
    killTree: async (pid) => {
      await endChildren(spec.task_id, { stateDir, clock, logger });
      if (container !== undefined) return container.terminals.end();
      // A print session runs on pipes, with no shell around it.
      return processes.end(pid, spec.driver !== 'print');
    },
    onBytes: (bytes) => store.output(bytes),
    guard,
    before: sandboxed?.before,
    sleeping: agent.sleeping,
    projectTexts: agent.projectTexts,
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
  const { spec, prompt, owner, mark, socketPath, projectFiles: files, stateDir, logger, store } = task;
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
        await endChildren(spec.task_id, { stateDir, clock, logger });
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
      spec,
      prompt,
      owner,
      mark,
      socketPath,
      files,
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
