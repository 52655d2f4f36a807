import { existsSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { withinMs } from '../base/clock.js';
import { systemClock } from '../base/system-clock.js';
import { Closers } from '../base/closers.js';
import { BridgeError } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import { createTaskId } from '../base/task-id.js';
import type { Logger } from '../base/logger.js';
import { makeFolders } from '../base/files/make-folders.js';
import type { KnownHookEvent } from '../claude/hooks/hook-event.js';
import { KeeperServer, type ServedRun } from '../keeper/main/keeper-server.js';
import { TaskFiles } from '../keeper/main/task-files.js';
import { pidOf, type Pid } from '../os/pid.js';
import { realPathOfNearest } from '../projects/real-path.js';
import { processSource } from '../os/process-source.js';
import { identityOf, ownIdentity } from '../store/process-identity.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import { nativeSession, NO_PROMPT } from '../tasks/native-session.js';
import { ancestorsOf } from '../tasks/own-session.js';
import { initialRecord } from '../tasks/record/initial-record.js';
import { ReadableLog } from '../tasks/run/readable-log.js';
import type { RuleVerdict } from '../tasks/run/task-run-parts.js';
import { TaskRun } from '../tasks/run/task-run.js';
import type { TaskSpec } from '../tasks/task-spec.js';
import { Listeners } from './listeners.js';
import { changeSeqAt } from './change-seq.js';
import { NativeDriver } from './native-driver.js';
import { nativeSpec } from './native-spec.js';
import { SWITCHED_OFF } from './native-switch.js';
import { nativeTaskId } from './native-task-id.js';
import { NativeMessages, type NativeMessagesOptions } from './native-messages.js';
import { passOn } from './pass-on-message.js';
import { SessionStatus } from './session-status.js';
import type { HookAnswer } from './standing-requests.js';

const clock = systemClock;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** A server leaves within 250 ms. */
const GOODBYE_MS = 80;
/** Leaves everything to the person. */
const LEFT: HookAnswer = {};
const NO_RULES: RuleVerdict = {
  verdict: 'ask',
  rule: 'no-rule',
  reason: 'a person started this session',
};

export interface NativeSessionParts {
  readonly sessionId: string;
  /** Real path, inside the allowed roots. */
  readonly project: string;
  /** What the person said first; empty when the session began before. */
  readonly prompt: string;
  /** Where Claude Code stores its files. */
  readonly claudeFolder: string;
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly logger: Logger;
  readonly homeDir: string;
  readonly waitSeconds: number;
  readonly maxLogBytes: number;
  /** False when the person has ended the view of own sessions. */
  readonly isOn: () => boolean;
  /** The process of the session, as the environment names it. */
  readonly likelyPid?: number | undefined;
  /** Left out where messages are refused. */
  readonly messages?: Pick<NativeMessagesOptions, 'inbox'> | undefined;
}

/** A session that a person started, served as a task by this process. */
export interface NativeSession {
  readonly sessionId: string;
  readonly taskId: string;
  hook(event: KnownHookEvent, signal: AbortSignal): Promise<HookAnswer>;
  /** Ends its record, within a moment; the session itself goes on. */
  end(reason: string): Promise<void>;
}

/** Makes the record of a session and serves it. Throws STATE_UNUSABLE, with nothing left behind. */
export async function openNativeSession(parts: NativeSessionParts): Promise<NativeSession> {
  const ancestors = ancestorsOf(process.pid, await processSource.table());
  const status = new SessionStatus(parts.claudeFolder, parts.sessionId, ancestors);
  const pid = (await status.pid()) ?? ancestorPid(parts.likelyPid, ancestors);
  const listed = nativeTaskId(parts.sessionId, pid);
  // One that was listed before it was seen here has the same id then.
  const isFree = pid !== undefined && !existsSync(parts.stateDir.taskDir(listed));
  const taskId = await madeFolder(parts.stateDir, isFree ? listed : createTaskId());
  const closers = new Closers(parts.logger);
  try {
    return await open(parts, { taskId, status, pid }, closers);
  } catch (error) {
    await closers.close();
    await parts.stateDir.removeTaskDir(taskId);
    throw error;
  }
}

async function open(
  parts: NativeSessionParts,
  {
    taskId,
    status,
    pid,
  }: { readonly taskId: string; readonly status: SessionStatus; readonly pid: Pid | undefined },
  closers: Closers,
): Promise<NativeSession> {
  const { stateDir, runtimeDir, logger, sessionId } = parts;
  const prompt = parts.prompt === '' ? NO_PROMPT : parts.prompt;
  await writeFile(stateDir.promptFile(taskId), prompt, { mode: OWNER_ONLY });
  const socketPath = runtimeDir.socketPath(taskId);
  const store = closers.owns('the files of the session', await openFiles(parts, taskId));
  const listeners = new Listeners({ statePath: stateDir.path, clock });
  const messages =
    parts.messages === undefined
      ? undefined
      : new NativeMessages({ ...parts.messages, sessionId, logger: parts.logger });
  let server: KeeperServer | undefined = undefined;
  const driver: NativeDriver = new NativeDriver({
    clock,
    taskId,
    sessionId,
    project: parts.project,
    status,
    pid,
    isHeard: () => listeners.isHeard(server?.clientCount ?? 0),
    messages,
  });
  const run: TaskRun = closers.owns(
    'the run',
    await newRun(parts, { taskId, prompt, socketPath, store, driver }),
  );
  store.follow(run);
  server = closers.owns(
    'the server of the socket',
    await KeeperServer.start({
      run: withoutControl(run, {
        taskId,
        isOn: parts.isOn,
        message: (message) =>
          passOn(message, {
            taskId,
            messages,
            isInTurn: () => driver.isInTurn,
            send: (sent) => run.message(sent),
          }),
      }),
      socketPath,
      clock,
      logger,
      onClient: () => listeners.client(),
    }),
  );
  const served = server;
  await run.start();
  return {
    sessionId,
    taskId,
    hook: async (event, signal) => {
      const answer = await driver.hook(event, signal);
      // What was answered before the view was ended comes to nothing.
      return parts.isOn() ? answer : LEFT;
    },
    end: async (reason) => {
      run.leave(reason);
      await run.ended;
      await withinMs(clock, GOODBYE_MS, served.finish());
      await closers.close();
      rmSync(socketPath, { force: true });
    },
  };
}

/** Makes the folder of a task and gives its id: another one where another process made this folder first. */
async function madeFolder(stateDir: StateDir, taskId: string): Promise<string> {
  try {
    await stateDir.createTaskDir(taskId);
    return taskId;
  } catch (error) {
    if (!existsSync(stateDir.taskDir(taskId))) throw error;
    const other = createTaskId();
    await stateDir.createTaskDir(other);
    return other;
  }
}

/** `pid` when it is an ancestor of this process: what the environment says proves nothing. */
function ancestorPid(pid: number | undefined, ancestors: ReadonlySet<number>): Pid | undefined {
  return pid !== undefined && ancestors.has(pid) ? pidOf(pid) : undefined;
}

/** Throws NATIVE_SESSION when the person has ended the view of own sessions. */
function requireOn(isOn: () => boolean, taskId: string): void {
  if (isOn()) return;
  throw new BridgeError(
    'NATIVE_SESSION',
    `The view of sessions of people was ended with claude-code-bridge native off, so ${taskId} is not answered.`,
    'Answer it in its terminal; claude-code-bridge native on begins the view again.',
  );
}

function openFiles(
  { stateDir, logger, maxLogBytes }: NativeSessionParts,
  taskId: string,
): Promise<TaskFiles> {
  return TaskFiles.open({
    stateDir,
    taskId,
    logFile: stateDir.logFile(taskId),
    makeLogFolder: () => makeFolders(stateDir.taskDir(taskId), OWNER_ONLY_FOLDER),
    maxBytes: maxLogBytes,
    clock,
    logger,
  });
}

interface RunParts {
  readonly taskId: string;
  readonly prompt: string;
  readonly socketPath: string;
  readonly store: TaskFiles;
  readonly driver: NativeDriver;
}

async function newRun(parts: NativeSessionParts, own: RunParts): Promise<TaskRun> {
  const { taskId, prompt, socketPath, store, driver } = own;
  const { stateDir, logger } = parts;
  const spec = specOf(parts, taskId);
  return new TaskRun(
    {
      spec,
      clock,
      logger,
      driver,
      journal: store.journal,
      log: new ReadableLog(store.log, clock),
      records: store.records,
      check: () => NO_RULES,
      rules: [],
      // Nothing of the session belongs to the bridge.
      endLeftovers: () => Promise.resolve([]),
      realPath: realPathOfNearest,
      identify: identityOf,
      flush: () => store.flush(),
      release: () => undefined,
    },
    {
      ...initialRecord({
        spec,
        prompt,
        owner: await ownIdentity(),
        // No process has it: what this session started is not the bridge's to end.
        mark: createSecret(),
        socketPath,
        files: { logFile: stateDir.logFile(taskId), promptFile: stateDir.promptFile(taskId) },
        now: clock.now(),
      }),
      change_seq: changeSeqAt(clock.now()),
    },
  );
}

function specOf({ project, waitSeconds, maxLogBytes }: NativeSessionParts, taskId: string): TaskSpec {
  return nativeSpec({
    taskId,
    project,
    createdAt: new Date(clock.now()).toISOString(),
    settings: {
      decision_timeout_seconds: waitSeconds,
      max_log_size_bytes: maxLogBytes,
    },
  });
}

/** What clients may do to a session of a person: see it, answer it, and send it what `message` lets through. */
function withoutControl(
  run: TaskRun,
  {
    taskId,
    isOn,
    message,
  }: { readonly taskId: string; readonly isOn: () => boolean; readonly message: ServedRun['message'] },
): ServedRun {
  return {
    get record() {
      return run.record;
    },
    onDidChange: run.onDidChange,
    respond: async (answer) => {
      requireOn(isOn, taskId);
      return run.respond(answer);
    },
    message: async (sent) => {
      requireOn(isOn, taskId);
      return message(sent);
    },
    kill: async () => {
      if (isOn()) throw nativeSession(taskId, 'ended');
      run.leave(SWITCHED_OFF);
      return run.ended;
    },
    screen: () => Promise.reject(nativeSession(taskId, 'shown as a screen')),
    typed: () => undefined,
  };
}
