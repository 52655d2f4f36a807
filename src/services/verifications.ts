import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { allowedChecks } from '../checks/allowed-checks.js';
import { verificationSchema, type Verification } from '../checks/result.js';
import { verifyWork } from '../checks/verify.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { checkMark } from '../os/mark-variable.js';
import { childEnvironment, sessionKeys } from '../pty/child-env.js';
import { ownIdentity } from '../store/process-identity.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskChanges } from '../tasks/receipt/task-receipts.js';
import { taskSpecSchema, type TaskSpec } from '../tasks/task-spec.js';
import type { TaskRecord } from '../tasks/task.js';

export interface VerificationsParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly door: GitDoor;
  readonly changes: Pick<TaskChanges, 'patchOf'>;
}

/** Checks what tasks did in clean copies: one run for a task at a time, which goes on when its caller has gone. */
export class Verifications implements Disposable {
  readonly #parts: VerificationsParts;
  readonly #running = new Map<string, Promise<Verification>>();
  readonly #stop = new AbortController();

  constructor(parts: VerificationsParts) {
    this.#parts = parts;
  }

  /** Begins a run, or joins the one that goes on. Rejects with INVALID_ARGUMENTS for a task without checks, and as `patchOf` and `openWork`. */
  verify(record: TaskRecord): Promise<Verification> {
    const { task_id } = record;
    const running = this.#running.get(task_id);
    if (running !== undefined) return running;
    const run = this.#run(record).finally(() => this.#running.delete(task_id));
    this.#running.set(task_id, run);
    return run;
  }

  dispose(): void {
    this.#stop.abort();
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
    const { repository, base, end, objects } = patch.query;
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
        folder: record.worktree?.finished === undefined ? spec.project_path : repository,
        checks: allowed,
        brief: spec.brief,
        scratch: join(folder, 'verify'),
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
