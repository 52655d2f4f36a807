import { realpath, writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createTaskId } from '../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { oneLine } from '../base/text.js';
import { ALL_MODES, modeFor, modesIn, type ModeSettings } from '../approvals/modes.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { Installation } from '../claude/installation.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import type { Lock } from '../store/project-lock.js';
import type { StateDir } from '../store/state-dir.js';
import { budgetFor, isLimited, type Budget } from './budget/budget.js';
import { endLeftovers } from './record/recovery.js';
import { projectBusy } from './queue/queue-order.js';
import { checkIsNoCommand, checkPrompt } from './prompt.js';
import type { TaskRecord } from './task.js';
import type { TaskHost } from './task-host.js';
import type { TaskQueue } from './queue/task-queue.js';
import { sessionLeft } from './session-left.js';
import type { StartTask, TaskWait, WaitOutcome } from './task-service.js';
import {
  checkHoldsNoState,
  checkIsolation,
  checkSameFolder,
  checkSamePlace,
  chooseContainer,
  continuedTask,
  driverFor,
  folderGone,
  type ContainerSettings,
  type ContinuedTask,
} from './start-checks.js';
import { taskSpecSchema, type TaskSpec } from './task-spec.js';
import { branchName, type WorktreeMaker } from './worktree-maker.js';

const OWNER_ONLY = 0o600;

/** The settings that become part of a task, and those that are used for it here. */
export type StartSettings = Omit<TaskSpec['settings'], 'claude_command'> & {
  readonly default_timeout_seconds: number;
  readonly task_budget?: Budget | undefined;
  /** Over all tasks of the user, no matter which server started them. */
  readonly max_concurrent_tasks: number;
  /** Left out, every mode is allowed, and `auto` is the default. */
  readonly modes?: ModeSettings | undefined;
};

export interface TaskStarterOptions {
  readonly stateDir: StateDir;
  readonly host: TaskHost;
  readonly queue: TaskQueue;
  readonly clock: Clock;
  readonly roots: {
    realRoots(): Promise<readonly string[]>;
    resolveDirectory(input: string): Promise<AllowedPath>;
  };
  /** Undefined where tasks run on this machine alone. */
  readonly containers?: ContainerSettings | undefined;
  readonly findInstallation: () => Promise<Installation>;
  /** Ends every process that carries a dead keeper's mark; resolves with how many there were. */
  readonly endMarked: EndMarked;
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
  readonly wait: (query: TaskWait) => Promise<WaitOutcome>;
  readonly settings: StartSettings;
  /** Undefined where there is no git to make worktrees with. */
  readonly worktrees?: WorktreeMaker | undefined;
}

/** Makes specs of what callers ask for, and tasks of specs. */
export class TaskStarter {
  readonly #options: TaskStarterOptions;

  constructor(options: TaskStarterOptions) {
    this.#options = options;
  }

  /** See `TaskService.start`. Nothing is left behind when it throws. */
  async start(input: StartTask): Promise<TaskRecord> {
    const { clock, settings, findInstallation } = this.#options;
    checkPrompt(input.prompt);
    checkIsNoCommand(input.prompt);
    checkModel(input.model);
    const before =
      input.continueFrom === undefined ? undefined : await this.#continued(input.continueFrom, input);
    const projectPath = await this.#folder(input, before);
    // An answer has nothing that could be taken back.
    if (input.purpose !== 'ask') checkHoldsNoState(projectPath, await this.#realStatePath());
    // All of the session: a task has one of its own, and that of a person is copied as it is now.
    const resume = before === undefined ? input.resume : { sessionId: before.session_id, messageId: null };
    const {
      default_timeout_seconds,
      max_concurrent_tasks: _limit,
      modes,
      task_budget = {},
      ...taskSettings
    } = settings;
    const projectModes = modesIn(projectPath, modes ?? ALL_MODES);
    const permissionMode = modeFor(input.permissionMode, projectPath, projectModes);
    checkIsolation({ ...input, permissionMode });
    const { container, command } =
      input.isolation === 'docker'
        ? chooseContainer(this.#options.containers)
        : { container: undefined, command: (await findInstallation()).command };
    const asked = { max_cost_usd: input.maxCostUsd, max_tokens: input.maxTokens };
    const budget = budgetFor(asked, task_budget);
    const spec: TaskSpec = {
      task_id: createTaskId(clock.now()),
      project_path: projectPath,
      permission_mode: permissionMode,
      allowed_modes: [...projectModes.allowed],
      driver: driverFor({ ...input, permissionMode }),
      model: input.model ?? null,
      keep_open: input.keepOpen ?? false,
      purpose: input.purpose ?? 'task',
      delegated: input.delegated ?? false,
      skip_permissions: input.skipPermissions ?? false,
      resume: resume ?? null,
      ...(container === undefined ? {} : { container }),
      timeout_seconds: input.timeoutSeconds ?? default_timeout_seconds,
      ...(isLimited(budget) && { budget }),
      created_at: new Date(clock.now()).toISOString(),
      settings: { ...taskSettings, claude_command: [...command] },
    };
    const { stateDir } = this.#options;
    await stateDir.createTaskDir(spec.task_id);
    try {
      return await this.#place(spec, projectPath, input);
    } catch (error) {
      await this.#takeBack(spec);
      throw error;
    }
  }

  async #realStatePath(): Promise<string> {
    const { path } = this.#options.stateDir;
    // One that is gone is made again, and what keeps it from that is reported then.
    return realpath(path).catch(() => path);
  }

  /** Starts it in its project when that is free, else does what the caller wants then. */
  async #place(spec: TaskSpec, projectPath: AllowedPath, input: StartTask): Promise<TaskRecord> {
    // A question holds no project.
    if (spec.purpose === 'ask') return this.#launch(spec, input.prompt);
    const { worktrees, clock } = this.#options;
    if (input.onConflict !== 'always_worktree' || worktrees === undefined) {
      const entry = await this.#enter(spec, input);
      if (entry.state === 'queued') return entry.record;
      if (entry.state === 'free') return this.#launch(spec, input.prompt, entry.reservation);
      if (input.onConflict !== 'worktree' || worktrees === undefined)
        throw projectBusy(spec.project_path, entry.holder, clock.now());
    }
    const { folder, worktree } = await worktrees.create(
      projectPath,
      { taskId: spec.task_id, branch: branchName(spec.task_id, input.prompt) },
      input.signal ?? new AbortController().signal,
    );
    try {
      const inWorktree: TaskSpec = { ...spec, project_path: folder, worktree };
      const second = await this.#enter(inWorktree, input);
      if (second.state === 'queued') return second.record;
      if (second.state === 'free') return await this.#launch(inWorktree, input.prompt, second.reservation);
      throw projectBusy(folder, second.holder, clock.now());
    } catch (error) {
      await worktrees.removeUnlessWork(worktree);
      throw error;
    }
  }

  async #continued(origin: string, { onConflict, isolation }: StartTask): Promise<ContinuedTask> {
    if (onConflict === 'worktree' || onConflict === 'always_worktree') {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `A task that goes on from another cannot work beside it (on_conflict '${onConflict}'): Claude Code keeps sessions by directory, and a worktree is another one.`,
        'Let it wait in the queue, or start a new session.',
      );
    }
    const { stateDir, read, wait } = this.#options;
    const task = await continuedTask(origin, async (taskId) => {
      const record = await read(taskId);
      return record === undefined ? undefined : sessionLeft(record, wait);
    });
    const earlier = await readJsonFile(
      stateDir.specFile(origin.replace(/^response_/, 'task_')),
      taskSpecSchema,
    );
    // A spec that is gone is an old task's, of before there were containers.
    checkSamePlace(origin, earlier.state === 'ok' && earlier.value.container !== undefined, { isolation });
    return task;
  }

  /** The folder that was given, else that of the task that is continued. */
  async #folder({ path }: StartTask, before: ContinuedTask | undefined): Promise<AllowedPath> {
    const { roots } = this.#options;
    if (path !== undefined) {
      const given = await roots.resolveDirectory(path);
      if (before !== undefined) checkSameFolder(before, given);
      return given;
    }
    if (before === undefined)
      throw new BridgeError('INVALID_ARGUMENTS', 'No folder is given.', 'Give a path.');
    try {
      return await roots.resolveDirectory(before.project_path);
    } catch (error) {
      if (error instanceof BridgeError && error.code === 'PATH_NOT_FOUND') throw folderGone(before, error);
      throw error;
    }
  }

  async #enter(spec: TaskSpec, input: StartTask): ReturnType<TaskQueue['enter']> {
    const { queue, roots, settings } = this.#options;
    return queue.enter({
      spec,
      prompt: input.prompt,
      allowedRoots: await roots.realRoots(),
      maxConcurrentTasks: settings.max_concurrent_tasks,
      waitsForProject: input.onConflict === 'queue',
    });
  }

  async #launch(spec: TaskSpec, prompt: string, reservation?: Lock): Promise<TaskRecord> {
    const { stateDir, host } = this.#options;
    try {
      await writePrompt(stateDir.promptFile(spec.task_id), prompt);
      await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec, { durable: false });
      return await host.launch(spec);
    } finally {
      // The task's keeper has the project, or no one.
      reservation?.release();
    }
  }

  async #takeBack(spec: TaskSpec): Promise<void> {
    const { stateDir, read } = this.#options;
    // A keeper that died while it started may have left an agent; its record is the only trace of it.
    const record = await read(spec.task_id);
    if (record !== undefined) await endLeftovers(record, this.#options);
    await stateDir.removeTaskDir(spec.task_id);
  }
}

/** Aliases and ids such as `opus`, `claude-opus-4-1[1m]` or an ARN; nothing that could be read as an option. */
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/;

function checkModel(model: string | undefined): void {
  if (model === undefined || modelPattern.test(model)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(model, 80)}' is no name of a model.`,
    'Give an alias such as "opus" or "sonnet" or a model id, or leave model out.',
  );
}

async function writePrompt(path: string, prompt: string): Promise<void> {
  try {
    await writeFile(path, prompt, { mode: OWNER_ONLY, flag: 'wx' });
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot write ${path}: ${messageOf(error)}`,
      'Make room on the disk of the state directory, and check that it is yours and writable.',
      { cause: error },
    );
  }
}
