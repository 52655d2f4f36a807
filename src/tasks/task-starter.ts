import { realpath } from 'node:fs/promises';
import { checksIn, promptWith, type Check } from '../checks/brief.js';
import { ALL_MODES, modeFor, modesIn, narrowed, type ModeSettings } from '../approvals/modes.js';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { replaceFile } from '../base/files/folders.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { createTaskId } from '../base/ids.js';
import type { Installation } from '../claude/installation.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import type { StateDir } from '../store/state-dir.js';
import { budgetFor, isLimited, type Budget } from './budget/budget.js';
import type { TaskQueue } from './queue/task-queue.js';
import { promptSummary } from './record/initial-record.js';
import { readRecordFile, recordOf } from './record/record-file.js';
import { endLeftovers } from './record/recovery.js';
import {
  checkHoldsNoState,
  checkIsNoCommand,
  checkModel,
  checkPrompt,
  checkSameFolder,
  checkSamePlace,
  chooseContainer,
  continuedTask,
  driverFor,
  folderGone,
  type ContainerSettings,
  type ContinuedTask,
} from './start-checks.js';
import type { TaskHost } from './task-host.js';
import type { StartTask, TaskService } from './task-service.js';
import { taskSpecSchema, type TaskSpec } from './task-spec.js';
import { isNative, type TaskRecord } from './task.js';
import { sessionLeft } from './watch/task-waiter.js';
import { branchName, type WorktreeMaker } from './worktree-maker.js';

const OWNER_ONLY = 0o600;

/** The settings that become part of a task, and those that are used for it here. */
export type StartSettings = Omit<TaskSpec['settings'], 'claude_command'> & {
  readonly default_timeout_seconds: number;
  readonly task_budget?: Budget | undefined;
  /** By the real path of a folder: for the projects in it. */
  readonly project_checks?: Readonly<Record<string, readonly Check[]>> | undefined;
  /** Over all tasks of the user, no matter which server started them. */
  readonly max_concurrent_tasks: number;
  /** Left out, every mode is allowed, and `auto` is the default. */
  readonly modes?: ModeSettings | undefined;
};

export interface TaskStarterOptions {
  readonly stateDir: StateDir;
  readonly host: TaskHost;
  readonly clock: Clock;
  readonly roots: { resolveDirectory(input: string): Promise<AllowedPath> };
  /** Undefined where tasks run on this machine alone. */
  readonly containers?: ContainerSettings | undefined;
  readonly findInstallation: () => Promise<Installation>;
  /** Ends every process that carries a dead keeper's mark; resolves with how many there were. */
  readonly endMarked: EndMarked;
  readonly settings: StartSettings;
  /** Undefined where there is no git to make worktrees with. */
  readonly worktrees?: WorktreeMaker | undefined;
}

interface Parts extends TaskStarterOptions {
  readonly queue: TaskQueue;
  readonly wait: TaskService['wait'];
  /** Called with the id of the task before anything is made. */
  readonly onNamed?: (taskId: string) => Promise<void>;
}

/** Makes a spec of what a caller asks for, and a task of the spec. See `TaskService.start`. Nothing is left behind when it throws. */
export async function startTask(input: StartTask, parts: Parts): Promise<TaskRecord> {
  const spec = await specOf(input, parts);
  const { stateDir } = parts;
  await parts.onNamed?.(spec.task_id);
  await stateDir.createTaskDir(spec.task_id);
  try {
    return await place(spec, input, parts);
  } catch (error) {
    // A keeper that died while it started may have left an agent; its record is the only trace of it.
    const record = recordOf(await readRecordFile(stateDir, spec.task_id));
    if (record !== undefined) await endLeftovers(record, parts);
    await stateDir.removeTaskDir(spec.task_id);
    throw error;
  }
}

async function specOf(input: StartTask, parts: Parts): Promise<TaskSpec> {
  checkPrompt(input.prompt);
  checkIsNoCommand(input.prompt);
  checkModel(input.model);
  const before = await continued(input, parts);
  const projectPath = await folderOf(input, before, parts);
  // An answer has nothing that could be taken back. A state directory that is gone is made again.
  const { path: statePath } = parts.stateDir;
  if (input.purpose !== 'ask')
    checkHoldsNoState(projectPath, await realpath(statePath).catch(() => statePath));
  const {
    default_timeout_seconds,
    max_concurrent_tasks: _limit,
    modes = ALL_MODES,
    task_budget = {},
    project_checks = {},
    ...settings
  } = parts.settings;
  const projectModes = narrowed(modesIn(projectPath, modes), input.limits?.modes);
  // A session goes on as it began; that of a person began with no mode of the bridge.
  const itsMode = before === undefined || isNative(before) ? undefined : before.permission_mode;
  const permissionMode = modeFor(input.permissionMode ?? itsMode, projectPath, projectModes);
  const driver = driverFor({ ...input, permissionMode });
  const { command, ...container } =
    input.isolation === 'docker'
      ? chooseContainer(parts.containers)
      : { command: (await parts.findInstallation()).command };
  const budget = budgetFor({ max_cost_usd: input.maxCostUsd, max_tokens: input.maxTokens }, task_budget);
  const now = parts.clock.now();
  const ownChecks = checksIn(projectPath, project_checks);
  return {
    task_id: createTaskId(now),
    project_path: projectPath,
    prompt_summary: promptSummary(input.prompt),
    permission_mode: permissionMode,
    allowed_modes: [...projectModes.allowed],
    driver,
    model: input.model ?? null,
    keep_open: input.keepOpen ?? false,
    purpose: input.purpose ?? 'task',
    delegated: input.delegated ?? false,
    skip_permissions: input.skipPermissions ?? false,
    // All of the session: a task has one of its own, and that of a person is copied as it is now.
    resume: before === undefined ? (input.resume ?? null) : { sessionId: before.session_id, messageId: null },
    ...container,
    timeout_seconds: input.timeoutSeconds ?? default_timeout_seconds,
    ...(isLimited(budget) && { budget }),
    ...givenWith(input, before, ownChecks),
    created_at: new Date(now).toISOString(),
    settings: {
      ...settings,
      rules: [...(settings.rules ?? []), ...(input.limits?.rules ?? [])],
      claude_command: [...command],
      ...(ownChecks !== undefined && { own_checks: [...ownChecks] }),
    },
  };
}

/** Brief and checks: what is given, else that of the task that this one continues, else the project's own checks. */
function givenWith(
  { brief, checks, untilMet, purpose }: StartTask,
  before: ContinuedTask | undefined,
  own: readonly Check[] | undefined,
): Partial<Pick<TaskSpec, 'brief' | 'checks' | 'until_met'>> {
  if (purpose === 'ask') return {};
  const found = checks ?? before?.given?.checks ?? own;
  const whole = { ...before?.brief, ...brief };
  const rounds = untilMet ?? before?.given?.until_met;
  return {
    ...(Object.keys(whole).length > 0 && { brief: whole }),
    ...(found !== undefined && found.length > 0 && { checks: [...found] }),
    ...(rounds !== undefined && { until_met: rounds }),
  };
}

async function continued(
  { continueFrom: origin, onConflict, isolation }: StartTask,
  { stateDir, wait }: Parts,
): Promise<ContinuedTask | undefined> {
  if (origin === undefined) return undefined;
  if (onConflict === 'worktree' || onConflict === 'always_worktree')
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `A task that goes on from another cannot work beside it (on_conflict '${onConflict}'): Claude Code keeps sessions by directory, and a worktree is another one.`,
      'Let it wait in the queue, or start a new session.',
    );
  const task = await continuedTask(origin, async (taskId) => {
    const record = recordOf(await readRecordFile(stateDir, taskId));
    return record && sessionLeft(record, wait);
  });
  const earlier = await readJsonFile(stateDir.specFile(task.task_id), taskSpecSchema);
  checkSamePlace(origin, earlier.state === 'ok' && earlier.value.container !== undefined, { isolation });
  return earlier.state === 'ok' ? { ...task, given: earlier.value } : task;
}

/** The folder that was given, else that of the task that is continued. */
async function folderOf(
  { path }: StartTask,
  before: ContinuedTask | undefined,
  { roots }: Parts,
): Promise<AllowedPath> {
  if (path !== undefined) {
    const given = await roots.resolveDirectory(path);
    if (before !== undefined) checkSameFolder(before, given);
    return given;
  }
  if (before === undefined) throw new BridgeError('INVALID_ARGUMENTS', 'No folder is given.', 'Give a path.');
  try {
    return await roots.resolveDirectory(before.project_path);
  } catch (error) {
    if (error instanceof BridgeError && error.code === 'PATH_NOT_FOUND') throw folderGone(before, error);
    throw error;
  }
}

/** Starts it in its project when that is free, else does what the caller wants then. */
async function place(spec: TaskSpec, input: StartTask, parts: Parts): Promise<TaskRecord> {
  const { worktrees } = parts;
  if (worktrees === undefined || input.onConflict !== 'always_worktree') {
    try {
      return await enter(spec, input, parts);
    } catch (error) {
      const isBusy = error instanceof BridgeError && error.code === 'TASK_ALREADY_RUNNING';
      if (!isBusy || worktrees === undefined || input.onConflict !== 'worktree') throw error;
    }
  }
  const { folder, worktree } = await worktrees.create(
    await parts.roots.resolveDirectory(spec.project_path),
    { taskId: spec.task_id, branch: branchName(spec.task_id, input.prompt) },
    input.signal ?? new AbortController().signal,
  );
  try {
    return await enter({ ...spec, project_path: folder, worktree }, input, parts);
  } catch (error) {
    await worktrees.removeUnlessWork(worktree);
    throw error;
  }
}

/** Puts the task on disk, and starts or queues it. Throws TASK_ALREADY_RUNNING where another one has the project and it does not wait. */
async function enter(spec: TaskSpec, { prompt, onConflict }: StartTask, parts: Parts): Promise<TaskRecord> {
  const { stateDir, host, queue, settings } = parts;
  // A question holds no project, and is not queued.
  const durable = spec.purpose !== 'ask';
  const promptFile = stateDir.promptFile(spec.task_id);
  const whole = promptWith(prompt, spec.brief, spec.checks ?? []);
  await replaceFile(promptFile, whole, { mode: OWNER_ONLY, durable }).catch((cause: unknown) => {
    const hint = 'Make room on the disk of the state directory, and check that it is yours and writable.';
    const message = `Cannot write ${promptFile}: ${messageOf(cause)}`;
    throw new BridgeError('STATE_UNUSABLE', message, hint, { cause });
  });
  await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec, { durable });
  if (spec.purpose === 'ask') return host.launch(spec);
  const limit = settings.max_concurrent_tasks;
  const entry = await queue.enter(spec, prompt, { limit, waits: onConflict === 'queue' });
  if (!('release' in entry)) return entry;
  try {
    return await host.launch(spec, entry);
  } finally {
    // Nothing, once the task's keeper has it.
    entry.release();
  }
}
