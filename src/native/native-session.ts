import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { withinMs } from '../base/clock.js';
import { systemClock } from '../base/system-clock.js';
import { Closers } from '../base/lifecycle.js';
import { createSecret, createTaskId } from '../base/ids.js';
import { makeFolders } from '../base/files/folders.js';
import type { KnownHookEvent } from '../claude/hooks/hook-event.js';
import { serveTask } from '../keeper/main/keeper-server.js';
import { TaskFiles } from '../keeper/main/task-files.js';
import { ancestorsOf } from '../os/choose-processes.js';
import { pidOf } from '../os/pid.js';
import { realPathOfNearest } from '../projects/real-path.js';
import { processSource } from '../os/process-source.js';
import { identityOf, ownIdentity } from '../store/process-identity.js';
import type { RuntimeDir } from '../store/runtime-dir.js';
import type { StateDir } from '../store/state-dir.js';
import { NO_PROMPT } from '../tasks/task-refusals.js';
import { initialRecord } from '../tasks/record/initial-record.js';
import { ReadableLog, TaskStory } from '../tasks/run/task-story.js';
import type { TaskRecord } from '../tasks/task.js';
import type { HookAnswer } from './native-requests.js';
import { NativeRun, type NativeRunOptions } from './native-run.js';
import { sessionStatus } from './session-status.js';

const clock = systemClock;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const NO_LIMIT = 0;
/** A server leaves within 250 ms. */
const GOODBYE_MS = 80;

export interface NativeSessionParts extends Pick<
  NativeRunOptions,
  'logger' | 'waitSeconds' | 'isOn' | 'messages'
> {
  readonly sessionId: string;
  /** Real path, inside the allowed roots. */
  readonly project: string;
  /** What the person said first; empty when the session began before. */
  readonly prompt: string;
  /** Where Claude Code stores its files. */
  readonly claudeFolder: string;
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly maxLogBytes: number;
  /** The process of the session, as the environment names it. */
  readonly likelyPid?: number | undefined;
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
  const taskId = createTaskId(clock.now());
  await parts.stateDir.createTaskDir(taskId);
  const closers = new Closers(parts.logger);
  try {
    return await open(parts, taskId, closers);
  } catch (error) {
    await closers.close();
    await parts.stateDir.removeTaskDir(taskId);
    throw error;
  }
}

async function open(parts: NativeSessionParts, taskId: string, closers: Closers): Promise<NativeSession> {
  const { runtimeDir, stateDir, logger, sessionId, maxLogBytes: maxBytes } = parts;
  const socketPath = runtimeDir.socketPath(taskId);
  const ancestors = ancestorsOf(await processSource.table(), process.pid);
  const status = sessionStatus(parts.claudeFolder, sessionId, ancestors);
  const logFile = stateDir.logFile(taskId);
  const makeLogFolder = () => makeFolders(stateDir.taskDir(taskId), OWNER_ONLY_FOLDER);
  const files = closers.owns(
    'the files of the session',
    await TaskFiles.open({ stateDir, taskId, logFile, makeLogFolder, maxBytes, clock, logger }),
  );
  const run = closers.owns(
    'the run',
    new NativeRun(
      {
        ...parts,
        clock,
        status,
        realPath: realPathOfNearest,
        story: new TaskStory(files.journal, new ReadableLog(files.log, clock)),
        records: files.records,
        flush: () => files.flush(),
      },
      await firstRecord(parts, taskId, socketPath),
    ),
  );
  files.follow(run);
  const server = closers.owns(
    'the server of the socket',
    await serveTask({ run, socketPath, clock, logger }),
  );
  await run.start();
  // What the environment says proves nothing.
  const likely = pidOf(parts.likelyPid);
  const pid = (await status.pid()) ?? (ancestors.has(likely ?? 0) ? likely : undefined);
  if (pid !== undefined) run.setAgent((await identityOf(pid)) ?? null);
  return {
    sessionId,
    taskId,
    hook: (event, signal) => run.hook(event, signal),
    end: async (reason) => {
      await run.end(reason);
      await withinMs(clock, GOODBYE_MS, server.finish());
      await closers.close();
      rmSync(socketPath, { force: true });
    },
  };
}

async function firstRecord(
  { stateDir, project, prompt, sessionId }: NativeSessionParts,
  taskId: string,
  socketPath: string,
): Promise<TaskRecord> {
  const promptFile = stateDir.promptFile(taskId);
  const at = new Date(clock.now()).toISOString();
  const said = prompt === '' ? NO_PROMPT : prompt;
  await writeFile(promptFile, said, { mode: OWNER_ONLY });
  const record = initialRecord({
    spec: {
      task_id: taskId,
      project_path: project,
      permission_mode: 'cautious',
      driver: 'native',
      model: null,
      keep_open: true,
      timeout_seconds: NO_LIMIT,
      created_at: at,
    },
    prompt: said,
    owner: await ownIdentity(),
    // No process has it: what this session started is not the bridge's to end.
    mark: createSecret(),
    socketPath,
    files: { logFile: stateDir.logFile(taskId), promptFile },
  });
  return {
    ...record,
    status: 'running',
    reason: 'The session runs.',
    started_at: at,
    started_monotonic_ms: clock.monotonicMs(),
    session_id: sessionId,
  };
}
