import { join } from 'node:path';
import { readdir, rm } from 'node:fs/promises';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Logger } from '../base/logger.js';
import { allowedChecks } from '../checks/allowed-checks.js';
import { verificationSchema, type Verification } from '../checks/result.js';
import { verifyWork } from '../checks/verify.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { checkMark } from '../os/mark-variable.js';
import { childEnvironment, sessionKeys } from '../pty/child-env.js';
import { linkedProcess, linkToSelf } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskChanges } from '../tasks/receipt/task-receipts.js';
import { taskSpecSchema, type TaskSpec } from '../tasks/task-spec.js';
import type { TaskRecord } from '../tasks/task.js';

/** Begins the names of the folders with the copies. */
const COPIES = 'verify-';

export interface VerificationsParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly door: GitDoor;
  readonly changes: Pick<TaskChanges, 'patchOf'>;
}

/** Checks what tasks did in clean copies: one run for a task at a time, which goes on when its caller has gone. */
export class Verifications {
  readonly #parts: VerificationsParts;
  /** Until a caller has what it found. */
  readonly #runs = new Map<string, Promise<Verification>>();
  readonly #stop = new AbortController();

  constructor(parts: VerificationsParts) {
    this.#parts = parts;
  }

  /**
   * Begins a run, or joins the one that goes on or that no caller has heard of yet; undefined while it runs on after `limitMs`. Rejects
   * with INVALID_ARGUMENTS for a task without checks, TASK_ALREADY_RUNNING while another process verifies it, and as `patchOf` and `openWork`.
   */
  async verify(record: TaskRecord, limitMs: number): Promise<Verification | undefined> {
    const { task_id } = record;
    const run = this.#runs.get(task_id) ?? this.#exclusive(record);
    this.#runs.set(task_id, run);
    try {
      const found = await withinMs(this.#parts.clock, limitMs, run);
      if (found !== undefined) this.#runs.delete(task_id);
      return found;
    } catch (error) {
      this.#runs.delete(task_id);
      throw error;
    }
  }

  /** Stops what runs; resolves when nothing of it is left. */
  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#runs.values());
  }

  /** A link in the folder of the task says who verifies it, so that no other process does, and none ends the checks as leftovers. */
  async #exclusive(record: TaskRecord): Promise<Verification> {
    const { stateDir } = this.#parts;
    const link = stateDir.verifierFile(record.task_id);
    if (!(await linkToSelf(link, stateDir.path))) {
      const { state, pid } = await linkedProcess(link, stateDir.path);
      if (state !== 'gone')
        throw new BridgeError(
          'TASK_ALREADY_RUNNING',
          `The checks of ${record.task_id} are run in a clean copy by process ${pid} already.`,
          'Wait until it has ended.',
        );
      await rm(link, { force: true });
      return this.#exclusive(record);
    }
    try {
      // What a process left that was killed.
      const folder = stateDir.taskDir(record.task_id);
      for (const name of await readdir(folder))
        if (name.startsWith(COPIES)) await rm(join(folder, name), { recursive: true, force: true });
      return await this.#run(record);
    } finally {
      await rm(link, { force: true });
    }
  }

  async #run(record: TaskRecord): Promise<Verification> {
    const { stateDir, logger } = this.#parts;
    const { task_id } = record;
    const read = await readJsonFile(stateDir.specFile(task_id), taskSpecSchema);
    const spec = read.state === 'ok' ? read.value : undefined;
    if (spec?.checks === undefined)
      throw new BridgeError('INVALID_ARGUMENTS', `${task_id} was given no checks.`, [
        'Start a task with checks, or set them for the project.',
      ]);
    const found = await this.#verified(record, spec);
    await writeJsonFileAtomically(fileOf(stateDir, task_id), found).catch((error: unknown) =>
      logger.error('a verification could not be written', { task_id, error: messageOf(error) }),
    );
    return found;
  }

  async #verified(record: TaskRecord, spec: TaskSpec): Promise<Verification> {
    const { stateDir, clock, env, door, changes } = this.#parts;
    const { checks = [], settings } = spec;
    const patch = await changes.patchOf(record);
    if (patch.state === 'nothing') return notRun(checks, patch.why);
    const { base, end, objects } = patch.query;
    // The worktree may be gone, and what is installed is where it was made from.
    const repository = record.worktree?.repository ?? patch.query.repository;
    if (base === null || end === undefined)
      return notRun(checks, 'the files that the task began or ended with were not kept');
    const { allowed, why } = allowedChecks(spec, record.decisions);
    const mark = checkMark(record.process_mark);
    const own = childEnvironment(env, { mark, passEnvironment: settings.pass_environment });
    const keys = new Set(sessionKeys(own, settings.pass_environment));
    const folder = stateDir.taskDir(record.task_id);
    const found = await verifyWork(
      {
        door,
        query: { repository, base, end, objects },
        folder: record.worktree?.project_path ?? spec.project_path,
        checks: allowed,
        brief: spec.brief,
        scratch: join(folder, COPIES),
        outputFolder: join(folder, 'verified'),
        shell: settings.shell,
        env: Object.fromEntries(Object.entries(own).filter(([name]) => !keys.has(name))),
        mark,
        startedSince: (await ownIdentity()).start_time ?? undefined,
        clock,
      },
      this.#stop.signal,
    );
    const others = checks.filter((check) => !allowed.includes(check));
    return { ...found, results: [...found.results, ...notRun(others, why).results] };
  }
}

function notRun(checks: NonNullable<TaskSpec['checks']>, why: string): Verification {
  const results = checks.map(({ name, command }) => ({ name, command, verdict: 'not run' as const, why }));
  return { results, tests: [], linked: [], notes: [] };
}

/** What the last run found, if there was one. */
export async function readVerification(
  stateDir: StateDir,
  taskId: string,
): Promise<Verification | undefined> {
  const file = await readJsonFile(fileOf(stateDir, taskId), verificationSchema);
  return file.state === 'ok' ? file.value : undefined;
}

function fileOf(stateDir: StateDir, taskId: string): string {
  return join(stateDir.taskDir(taskId), 'verified.json');
}
