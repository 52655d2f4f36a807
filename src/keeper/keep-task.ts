import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { judgeRequest } from '../approvals/judge-request.js';
import { ShellJudge } from '../approvals/shell-judge.js';
import { compileRules, type UserRules } from '../approvals/user-rules.js';
import { systemClock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import { readJsonFile } from '../base/json-file.js';
import { DisposableStore } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { makeFolders } from '../base/make-folders.js';
import {
  findInstallation,
  isTooOld,
  OLDEST_SUPPORTED_VERSION,
  type Installation,
} from '../claude/installation.js';
import type { SessionRequest } from '../claude/session.js';
import { readVersion } from '../claude/version-cache.js';
import { childEnvironment } from '../pty/child-env.js';
import { PtyManager } from '../pty/pty-manager.js';
import { identityOf, ownIdentity } from '../store/process-identity.js';
import { ProjectLocks, type Lock } from '../store/project-lock.js';
import { RuntimeDir } from '../store/runtime-dir.js';
import { StateDir } from '../store/state-dir.js';
import { createProjectFiles, logFolder, type ProjectFiles } from '../tasks/project-folder.js';
import { ReadableLog } from '../tasks/readable-log.js';
import { aliasesOf } from '../projects/path-aliases.js';
import { requestPaths } from '../tasks/request-paths.js';
import { searchedSecret } from '../tasks/searched-secret.js';
import { initialRecord } from '../tasks/initial-record.js';
import type { PermissionMode, TaskRecord } from '../tasks/task.js';
import { TaskRun } from '../tasks/task-run.js';
import type { Judgement } from '../tasks/task-run-parts.js';
import { taskSpecSchema, type TaskSpec } from '../tasks/task-spec.js';
import type { AgentContainer, AgentContainerParts } from './agent-container.js';
import { endChildren } from './end-children.js';
import { commandShell } from './command-shell.js';
import { createDriver } from './create-driver.js';
import { KeeperServer } from './keeper-server.js';
import { recogniseProgram } from './recognise-program.js';
import { TaskFiles } from './task-files.js';
import { TaskProcesses } from './task-processes.js';
import { TaskReceipt } from './task-receipt.js';
import { taskSandbox, type TaskSandbox } from './task-sandbox.js';

/** A task that ended while its disk was full waits so long to write its end; then the next look calls it ended without a word. */
const FULL_DISK_LIMIT_MS = 15 * 60_000;

export interface KeepTaskOptions {
  readonly taskId: string;
  readonly statePath: string;
  readonly runtimePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Called once when the agent runs. */
  readonly onReady: (record: TaskRecord) => void;
  /** Gives a way to end the task from outside, such as a signal to this process. */
  readonly onRun: (run: TaskRun) => void;
}

/**
 * Keeps one task from its start to its end. Resolves when the task has ended and all that belonged to it is gone; rejects
 * when it could not be started, with nothing left behind.
 */
export async function keepTask(options: KeepTaskOptions): Promise<void> {
  const { taskId, env, logger } = options;
  const clock = systemClock;
  const stateDir = new StateDir(options.statePath);
  const socketPath = new RuntimeDir(options.runtimePath).socketPath(taskId);
  const spec = await readSpec(stateDir, taskId);
  const rows = spec.settings.rules ?? [];
  const places = { projectPath: spec.project_path, homeDir: env['HOME'] ?? '/' };
  const rules = compileRules(rows, places);
  // A task in a worktree keeps its log in the project that the worktree was made from: that one stays.
  const home = spec.worktree?.project_path ?? spec.project_path;
  const prompt = await readFile(stateDir.promptFile(taskId), 'utf8');
  const owner = await ownIdentity();
  const locks = new ProjectLocks(stateDir.lockDir, clock, (corrupt) =>
    logger.error('a lock file could not be read', { ...corrupt }),
  );
  // A question changes no project as its task: it runs beside whatever runs there.
  const lock = spec.purpose === 'ask' ? undefined : await acquire(locks, spec, owner);
  const owned = new DisposableStore();
  // Not in the state folder, where a sandbox writes nothing.
  const tempDir = join(tmpdir(), `claude-code-bridge-${taskId}`);
  let files: ProjectFiles | undefined;
  let sandboxed: TaskSandbox | undefined;
  let hasStarted = false;
  try {
    const mark = createSecret();
    // Nothing that ran before this keeper can be its task's.
    const startedSince = owner.start_time ?? undefined;
    const processes = new TaskProcesses({ mark, startedSince, clock, logger });
    const childEnv = childEnvironment(env, { mark, passEnvironment: spec.settings.pass_environment });
    const homeDir = env['HOME'] ?? '/';
    const container = await containerOf({ spec, stateDir, mark, env: childEnv, homeDir, clock, logger });
    if (container !== undefined) owned.add(container);
    const versions = `${stateDir.path}/claude-versions.json`;
    const named =
      container?.installation ??
      (await findInstallation(spec.settings.claude_command, { path: env['PATH'] ?? '', homeDir }));
    const installation =
      container === undefined
        ? await recogniseProgram({ spec, installation: named, env: childEnv, cacheFile: versions })
        : named;
    const askVersion = () => container?.version() ?? readVersion(installation.command, childEnv, versions);
    sandboxed = await taskSandbox({
      spec,
      installation,
      version: askVersion,
      env: childEnv,
      homeDir,
      stateDir,
      tempDir,
    });
    files =
      spec.purpose === 'ask'
        ? {
            logFile: stateDir.logFile(taskId),
            promptFile: stateDir.promptFile(taskId),
            remove: async () => {},
          }
        : await createProjectFiles(home, taskId, prompt);
    const { logFile } = files;
    const store = owned.add(
      await TaskFiles.open({
        stateDir,
        taskId,
        logFile,
        makeLogFolder: () =>
          spec.purpose === 'ask' ? makeFolders(dirname(logFile), 0o700) : logFolder(home),
        maxBytes: spec.settings.max_log_size_bytes,
        clock,
        logger,
      }),
    );
    const { journal, records, recording } = store;
    const receipt = new TaskReceipt({
      spec,
      stateDir,
      clock,
      logger,
      env: { ...childEnv, ...container?.seenHere },
    });
    const shellJudge = owned.add(new ShellJudge({ rows, places }));
    const pty = container?.terminals ?? owned.add(new PtyManager({ clock }));
    const shellEnv =
      container === undefined && installation.isClaude
        ? await commandShell(
            join(stateDir.taskDir(taskId), 'shell'),
            childEnv,
            spec.settings.pass_environment,
            sandboxed?.gitMasks,
          )
        : {};
    const driver = createDriver({
      spec,
      installation,
      clock,
      pty,
      spawnPiped: container?.terminals.spawnPiped,
      env: { ...(container?.env ?? childEnv), ...sandboxed?.env, ...shellEnv },
      sandbox: sandboxed?.sandbox,
      prompt,
      promptFile: stateDir.promptFile(taskId),
      sessionId: randomUUID(),
      killTree: async (pid) => {
        await endChildren(taskId, { stateDir, clock, logger });
        if (container !== undefined) return container.terminals.end();
        // A print session runs on pipes, with no shell around it.
        return processes.end(pid, spec.driver !== 'print');
      },
      onBytes: (bytes, session) => store.output(bytes, session),
    });
    store.screenStateFrom(() => driver.terminal?.recordedState() ?? '');
    let server: KeeperServer | undefined = undefined;
    const run = new TaskRun(
      {
        spec,
        clock,
        logger,
        driver,
        journal,
        log: new ReadableLog(store.log, clock),
        records,
        judge: async (request, mode) => {
          // What is allowed may write at once: the first look at the project comes before.
          await receipt.firstLook();
          if (request.tool === 'Bash') await sandboxed?.beforeCommand();
          return judge(request, mode, spec, rules, shellJudge);
        },
        endLeftovers: async () => {
          await endChildren(taskId, { stateDir, clock, logger });
          await container?.terminals.end();
          return processes.endLeftovers();
        },
        // What runs in a container has no number here.
        identify: container === undefined ? identityOf : () => Promise.resolve(undefined),
        flush: () => {
          server?.tellTyped();
          return store.flush();
        },
        release: async () => {
          await lock?.release();
        },
      },
      initialRecord({ spec, prompt, owner, mark, socketPath, files, now: clock.now() }),
    );
    owned.add(run);
    store.follow(run);
    options.onRun(run);
    server = owned.add(
      await KeeperServer.start({
        run,
        socketPath,
        clock,
        logger,
        terminal: {
          terminal: () => driver.terminal,
          journal,
          recording,
          hold: () => run.hold(),
        },
        stopWithoutServerSeconds: spec.settings.stop_without_server_seconds,
      }),
    );
    await receipt.beforeStart(installation.isClaude);
    await run.start();
    hasStarted = true;
    options.onReady(run.record);
    void receipt.firstLook();
    checkVersion(run, installation, askVersion, logger);
    await run.ended;
    // Still reachable by its socket, with its end: a record that is not on disk nobody could tell it from.
    await store.finish(FULL_DISK_LIMIT_MS);
    await server.finish();
    await receipt.finish(run.record);
  } catch (fault) {
    // The log of a task that ran stays, whatever failed afterwards.
    if (!hasStarted) await files?.remove();
    await lock?.release();
    throw fault;
  } finally {
    owned.dispose();
    await rm(socketPath, { force: true });
    await sandboxed?.end();
  }
}

/** The container of a task that has one; what it needs is loaded for such a task alone. */
async function containerOf(
  parts: Omit<AgentContainerParts, 'container'>,
): Promise<AgentContainer | undefined> {
  const { container } = parts.spec;
  if (container === undefined) return undefined;
  const { openAgentContainer } = await import('./agent-container.js');
  return openAgentContainer({ ...parts, container });
}

async function readSpec(stateDir: StateDir, taskId: string): Promise<TaskSpec> {
  const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
  if (file.state === 'ok') return file.value;
  throw new BridgeError(
    'TASK_START_FAILED',
    `The task's spec ${stateDir.specFile(taskId)} is ${file.state}.`,
    'Start the task again with start_task.',
  );
}

async function acquire(
  locks: ProjectLocks,
  spec: TaskSpec,
  owner: Awaited<ReturnType<typeof ownIdentity>>,
): Promise<Lock> {
  const result = await locks.acquire({ projectPath: spec.project_path, taskId: spec.task_id, owner });
  if ('held' in result) return result.held;
  throw new BridgeError(
    'TASK_ALREADY_RUNNING',
    `A task is already running for project ${spec.project_path}. Existing task ID: ${result.busy.task_id} (since ${result.busy.since}).`,
    'Follow it with get_task_status or wait_for_task, send it a message with message_task, or use kill_task to terminate it first.',
  );
}

async function judge(
  request: SessionRequest,
  mode: PermissionMode,
  spec: TaskSpec,
  rules: UserRules,
  shellJudge: ShellJudge,
): Promise<Judgement> {
  const { kind, tool, input, folder, source } = request;
  const paths = await requestPaths(input, spec.project_path);
  // A screen does not say for certain that a command stays in the sandbox.
  const sure = mode === 'sandboxed' && source === 'observed' ? 'cautious' : mode;
  return judgeRequest(
    {
      mode: sure,
      kind,
      tool,
      input,
      projectPath: spec.project_path,
      paths,
      aliases: await aliasesOf(paths, spec.project_path),
      ownPlaces: spec.settings.own_places,
      searchedSecret: mode !== 'auto' ? await searchedSecret(tool, input, spec.project_path) : undefined,
      folder,
    },
    rules,
    (line) => shellJudge.judge(line),
  );
}

/** Asked beside the running session, so that nobody waits for it; remembered for as long as the program stays the same. */
function checkVersion(
  run: TaskRun,
  installation: Installation,
  ask: () => Promise<string | undefined>,
  logger: Logger,
): void {
  if (!installation.isClaude) return;
  ask().then(
    (version) => {
      if (version === undefined) return;
      run.setVersion(version);
      if (!isTooOld(version)) return;
      run.refuse(
        `Claude Code ${version} is too old: the bridge needs ${OLDEST_SUPPORTED_VERSION} or newer. Update it (claude update, or npm install -g @anthropic-ai/claude-code).`,
      );
    },
    (fault: unknown) => logger.warn('the version of Claude Code is not known', { fault: messageOf(fault) }),
  );
}
