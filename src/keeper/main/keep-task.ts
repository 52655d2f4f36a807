import { join } from 'node:path';
import { commandOf } from '../../approvals/tool-table.js';
import { Closers } from '../../base/lifecycle.js';
import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { isTooOld, tooOld } from '../../claude/installation.js';
import type { Pid } from '../../os/pid.js';
import { claudeConfigDir, findTranscripts } from '../../claude/transcripts.js';
import type { GitDoor } from '../../git/run/repository-git.js';
import { realPathOfNearest } from '../../projects/real-path.js';
import { killTree, type KillReport, type KillTarget } from '../../pty/kill-ladder.js';
import { PtyManager } from '../../pty/pty-manager.js';
import { identityOf } from '../../store/process-identity.js';
import { spentByOthers } from '../../tasks/budget/day-spending.js';
import { lookBefore } from '../../tasks/receipt/receipt-git.js';
import { TaskReceipts, type TaskReceiptsParts } from '../../tasks/receipt/task-receipts.js';
import { initialRecord } from '../../tasks/record/initial-record.js';
import { ReadableLog } from '../../tasks/run/task-story.js';
import { TaskRun } from '../../tasks/run/task-run.js';
import { watchServers } from '../host/servers-there.js';
import { createDriver } from './create-driver.js';
import { FULL_DISK_LIMIT_MS } from '../wire/keeper-socket.js';
import { serveTask, type TaskServer } from './keeper-server.js';
import { openTask, type OpenTask } from './open-task.js';
import type { KeepTaskOptions } from './task-plan.js';
import { TaskRules } from './task-judge.js';

/** Time between SIGTERM and SIGKILL for processes that are left when the agent is gone. */
const LEFTOVER_GRACE_MS = 1_000;
/** Limit for the whole receipt: two snapshots, a transcript, a journal. After it the keeper exits, even if something hangs. */
const RECEIPT_LIMIT_MS = 30_000;
const clock = systemClock;

/**
 * Runs one task from its start to its end. Resolves when the task has ended and all its processes are gone; rejects when it could
 * not be started, with nothing left behind.
 */
export async function keepTask(options: KeepTaskOptions): Promise<void> {
  const closers = new Closers(options.logger);
  try {
    const task = await openTask(options, closers);
    const { run, server } = await openRun(task, options, closers);
    const { spec, agent, env, logger, store } = task;
    const receipt = spec.purpose === 'ask' ? undefined : receiptParts(task);
    // The first snapshot takes at most 10 s, and never rejects.
    const before = receipt && lookBefore(receipt, spec);
    // Loaded only where notices are sent.
    const { notify: settings } = spec.settings;
    const notices = settings && (await import('../notices/open-notices.js'));
    const sent = settings && notices?.openNotices({ task: run, settings, env, clock, logger });
    if (sent !== undefined) closers.owns('the notices', sent);
    // What the agent, or a hook of the project, does from the first moment on belongs to the task.
    await before;
    await run.start();
    task.hasStarted();
    options.onReady(run.record);
    // Of a program in a container it is read while that runs.
    if (agent.installation.isClaude) void checkVersion(run, task);
    await run.ended;
    // The socket still serves the end, which is known nowhere else until the record is on disk.
    await store.finish(FULL_DISK_LIMIT_MS);
    await server.finish();
    // The next request for a missing receipt makes it again.
    const made = receipt && new TaskReceipts(receipt).make(run.record, true);
    await withinMs(clock, RECEIPT_LIMIT_MS, Promise.resolve(made)).catch((error: unknown) =>
      logger.error('the receipt could not be made', { error: messageOf(error) }),
    );
    await sent?.finish();
  } finally {
    await closers.close();
  }
}

/** The run with its rules, its driver and the server of its socket, wired to each other. */
async function openRun(
  task: OpenTask,
  { onRun }: KeepTaskOptions,
  closers: Closers,
): Promise<{ run: TaskRun; server: TaskServer }> {
  const { spec, stateDir, logger, socketPath, agent, store } = task;
  const { container, sandboxed, sleeping, trusted } = agent;
  const { journal, recording, records } = store;
  let server: TaskServer | undefined = undefined;
  let run: TaskRun | undefined = undefined;
  const configDir = claudeConfigDir(agent.env);
  const guard = new TaskRules({
    spec,
    projectRules: sleeping?.rules ?? [],
    trusted,
    plansFolder: configDir === undefined ? undefined : join(configDir, 'plans'),
    mode: () => run?.record.permission_mode ?? spec.permission_mode,
    refusal: async (call) => run?.refusal(call),
    beforeCall: async ({ tool, input }) => {
      if (commandOf(tool, input) !== undefined) await sandboxed?.beforeCommand();
    },
  });
  const processes = taskProcesses(task);
  const driver = createDriver(task, {
    pty: container?.terminals ?? closers.owns('the terminals', new PtyManager({ clock })),
    killTree: (pid) => (container === undefined ? processes.end(pid) : container.terminals.end()),
    guard,
  });
  store.screenStateFrom(() => driver.terminal?.recordedState() ?? '');
  const parts = {
    ...{ spec, clock, logger, driver, journal, records },
    log: new ReadableLog(store.log, clock),
    spentByOthers: spentByOthers(stateDir, spec.task_id, clock),
    check: guard.check.bind(guard),
    rules: guard.rules,
    checks: spec.checks && (await import('./task-checks.js')).taskChecks(task, gitDoorOf(task), guard.rules),
    endLeftovers: async () => {
      await container?.terminals.end();
      return processes.endLeftovers();
    },
    isStored: async (sessionId: string) => {
      const folder = claudeConfigDir({ ...task.childEnv, ...container?.seenHere });
      return folder === undefined || (await findTranscripts(folder, sessionId)).length > 0;
    },
    realPath: realPathOfNearest,
    // A process in a container has no pid here.
    identify: container === undefined ? identityOf : () => Promise.resolve(undefined),
    flush: () => {
      server?.recordTyped();
      return store.flush();
    },
    release: task.releaseProject,
  };
  const record = initialRecord({ ...task, files: task.projectFiles, notes: agent.notes });
  run = closers.owns('the run', new TaskRun(parts, record));
  store.follow(run);
  onRun(run);
  const terminal = { terminal: () => driver.terminal, journal, recording, hold: run.hold.bind(run) };
  server = await serveTask({ run, socketPath, clock, logger, terminal });
  closers.owns('the server of the socket', server);
  const { stop_without_server_seconds: graceSeconds } = spec.settings;
  if (graceSeconds !== undefined) {
    const onAlone = (reason: string) => void run?.kill(reason);
    const watch = watchServers({ statePath: stateDir.path, clock, logger, graceSeconds, onAlone });
    closers.owns('the watch for servers', watch);
  }
  return { run, server };
}

async function checkVersion(run: TaskRun, { agent, logger }: OpenTask): Promise<void> {
  try {
    const version = await agent.version();
    if (version === undefined) return;
    run.setVersion(version);
    if (isTooOld(version)) run.refuse(tooOld(version).message);
  } catch (error) {
    logger.warn('the version of Claude Code is not known', { error: messageOf(error) });
  }
}

/** What the receipt of the task is made of. */
function receiptParts(task: OpenTask): TaskReceiptsParts {
  const { stateDir, logger } = task;
  const door = gitDoorOf(task);
  // Loaded while the agent runs.
  const looker = async () => {
    const { ProjectSnapshots } = await import('../../git/state/project-snapshots.js');
    return new ProjectSnapshots(await door());
  };
  return { stateDir, clock, logger, looker, claudeConfigDir: claudeConfigDir(seenEnvironment(task)) };
}

/** The environment of the agent says where transcripts are. */
function seenEnvironment({ childEnv, agent }: OpenTask): Readonly<Record<string, string>> {
  return { ...childEnv, ...agent.container?.seenHere };
}

/** By which the repository of the project is read. */
function gitDoorOf(task: OpenTask): () => Promise<GitDoor> {
  const { spec } = task;
  const env = seenEnvironment(task);
  return async () => {
    const [{ GitRunner }, { AllowedRoots }] = await Promise.all([
      import('../../git/run/run-git.js'),
      import('../../projects/allowed-roots.js'),
    ]);
    const homeDir = env['HOME'] ?? '/';
    const roots = AllowedRoots.ofReal(spec.settings.allowed_roots ?? [spec.project_path], homeDir);
    const runner = new GitRunner({ path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] });
    return { roots, runner };
  };
}

/**
 * Ends the processes of one task, in one call after the other: when an agent exits at SIGTERM, its children have the whole grace time
 * of that SIGTERM to clean up before leftovers are ended.
 */
function taskProcesses({ mark, owner, spec, logger }: OpenTask) {
  let running: Promise<unknown> = Promise.resolve();
  const kill = (target: Pick<KillTarget, 'pid' | 'isWrapped' | 'graceMs'>): Promise<KillReport> => {
    // Nothing that ran before this keeper can be its task's.
    const family = { mark, startedSince: owner.start_time ?? undefined };
    const report = running.then(() => killTree({ ...target, ...family, clock }));
    // The caller gets the error; the next call runs anyway.
    running = report.catch(() => undefined);
    return report;
  };
  return {
    /** Ends the agent with all that belongs to it. A print session runs on pipes, with no shell around it. */
    end: async (pid: Pid | undefined): Promise<void> => {
      const { remaining } = await kill({ pid, isWrapped: spec.driver !== 'print' });
      if (remaining.length === 0) return;
      logger.error('processes could not be ended', { pids: remaining.map((one) => one.pid) });
    },
    /** Ends what the agent left behind; resolves with the names of those programs. */
    endLeftovers: async (): Promise<readonly string[]> => {
      const { ended } = await kill({ graceMs: LEFTOVER_GRACE_MS });
      // The shell around the agent is this process's own child, and may take a moment to go.
      return ended.filter(({ parentPid }) => parentPid !== process.pid).map(({ name }) => name);
    },
  };
}
