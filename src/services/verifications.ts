import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { allowedChecks, questionWords, type AllowedChecks } from '../checks/allowed-checks.js';
import type { Verification } from '../checks/result.js';
import { hostLines, noLines, type RunLine } from '../checks/run-command.js';
import { sandboxOf, sandboxRulesFile, sandboxRulesSchema } from '../checks/sandboxed-lines.js';
import { verifyWork } from '../checks/verify.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { checkMark } from '../os/mark-variable.js';
import { childEnvironment, sessionKeys } from '../pty/child-env.js';
import { pathOutside } from '../projects/path-outside.js';
import { WORKTREES_FOLDER, worktreeOf } from '../projects/worktree-path.js';
import { linkToSelf } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskChanges } from '../tasks/receipt/task-receipts.js';
import { requireNotVerified } from '../tasks/record/not-verified.js';
import { taskSpecSchema, type TaskSpec } from '../tasks/task-spec.js';
import type { TaskRecord } from '../tasks/task.js';

/** Begins the names of the folders with the copies. */
const COPIES = 'verify-';
/** The end of the path of a worktree, from the top of its repository on. */
const OF_WORKTREES = new RegExp(`/${WORKTREES_FOLDER.replaceAll('.', '\\.')}/[^/]+$`);
const OWNER_ONLY = 0o700;

export interface VerificationsParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
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

  /** What a person has to allow before all checks may run, in words; undefined where nothing is to be asked. Throws as `verify`. */
  async question(record: TaskRecord): Promise<string | undefined> {
    if (this.#runs.has(record.task_id)) return undefined;
    const { toAsk, why } = await allowedFor(record, await this.#spec(record));
    return toAsk.length === 0 ? undefined : questionWords(toAsk, why);
  }

  /**
   * Begins a run, or joins the one that goes on or that no caller has heard of yet; undefined while it runs on after `limitMs`.
   * `isAllowed`: a person has allowed what `question` says. Rejects with INVALID_ARGUMENTS for a task without checks, TASK_ALREADY_RUNNING
   * while another process verifies it, and as `patchOf` and `openWork`.
   */
  async verify(record: TaskRecord, limitMs: number, isAllowed: boolean): Promise<Verification | undefined> {
    const { task_id } = record;
    const run = this.#runs.get(task_id) ?? this.#exclusive(record, isAllowed);
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
  async #exclusive(record: TaskRecord, isAllowed: boolean): Promise<Verification> {
    const { stateDir } = this.#parts;
    const { task_id } = record;
    const spec = await this.#spec(record);
    const link = stateDir.verifierFile(task_id);
    if (!(await linkToSelf(link, stateDir.path))) {
      await requireNotVerified(stateDir, task_id);
      await rm(link, { force: true });
      return this.#exclusive(record, isAllowed);
    }
    try {
      // What a process left that was killed.
      const folder = stateDir.taskDir(task_id);
      for (const name of await readdir(folder))
        if (name.startsWith(COPIES)) await rm(join(folder, name), { recursive: true, force: true });
      return await this.#verified(record, spec, isAllowed);
    } finally {
      await rm(link, { force: true });
    }
  }

  async #spec({ task_id }: TaskRecord): Promise<TaskSpec> {
    const read = await readJsonFile(this.#parts.stateDir.specFile(task_id), taskSpecSchema);
    if (read.state === 'ok' && read.value.checks !== undefined) return read.value;
    throw new BridgeError('INVALID_ARGUMENTS', `${task_id} was given no checks.`, [
      'Start a task with checks, or set them for the project.',
    ]);
  }

  async #verified(record: TaskRecord, spec: TaskSpec, isAllowed: boolean): Promise<Verification> {
    const { stateDir, door, changes } = this.#parts;
    const { checks = [], project_path, container } = spec;
    if (container !== undefined) return notRun(checks, 'the container that the agent worked in is gone');
    const patch = await changes.patchOf(record);
    if (patch.state === 'nothing') return notRun(checks, patch.why);
    const { base, end, objects } = patch.query;
    if (base === null || end === undefined)
      return notRun(checks, 'the files that the task began or ended with were not kept');
    const may = await allowedFor(record, spec);
    const allowed = isAllowed ? checks : may.allowed;
    if (allowed.length === 0) return notRun(checks, may.why);
    const { repository, folder } = placeOf(record, patch.query.repository, project_path);
    const taskDir = stateDir.taskDir(record.task_id);
    const outputFolder = join(taskDir, 'verified');
    const query = { repository, base, end, objects };
    const linesIn = (scratch: string): Promise<RunLine> =>
      this.#linesIn(record, spec, {
        ...{ scratch, outputFolder, repository, within: relative(repository, folder) },
      });
    const found = await verifyWork(
      {
        ...{ door, query, folder, brief: spec.brief, outputFolder, linesIn },
        checks: allowed,
        scratch: join(taskDir, COPIES),
      },
      this.#stop.signal,
    );
    const others = checks.filter((check) => !allowed.includes(check));
    return { ...found, results: [...found.results, ...notRun(others, may.why).results] };
  }

  /** The commands in the copies have what those of the task had; in mode sandboxed they write into the copies alone. */
  async #linesIn(
    record: TaskRecord,
    { settings, permission_mode, project_path, task_id }: TaskSpec,
    {
      scratch,
      outputFolder,
      repository,
      within,
    }: Readonly<Record<'scratch' | 'outputFolder' | 'repository' | 'within', string>>,
  ): Promise<RunLine> {
    const { stateDir, clock, env } = this.#parts;
    const mark = checkMark(record.process_mark);
    const own = childEnvironment(env, { mark, passEnvironment: settings.pass_environment });
    const keys = new Set(sessionKeys(own, settings.pass_environment));
    const lines = {
      shell: settings.shell,
      env: Object.fromEntries(Object.entries(own).filter(([name]) => !keys.has(name))),
      mark,
      startedSince: (await ownIdentity()).start_time ?? undefined,
      clock,
    };
    if (permission_mode !== 'sandboxed') return hostLines(lines);
    const read = await readJsonFile(sandboxRulesFile(stateDir.taskDir(task_id)), sandboxRulesSchema);
    if (read.state !== 'ok') return noLines('no sandbox: the rules of that of the task were not kept');
    const { network, filesystem } = read.value;
    const isOfProject = (path: string): boolean => path.startsWith(`${project_path}/`);
    const copied = ['after', 'before'].flatMap((side) =>
      filesystem.denyRead
        .filter(isOfProject)
        .map((path) => join(scratch, side, within, path.slice(project_path.length))),
    );
    const rules = {
      network,
      filesystem: { allowWrite: [scratch], denyWrite: [], denyRead: [...filesystem.denyRead, ...copied] },
    };
    await mkdir(outputFolder, { recursive: true, mode: OWNER_ONLY });
    // Commands of a sandbox may have written programs there, and what makes this one runs outside.
    const PATH = await pathOutside(env['PATH'] ?? '', [project_path, repository]);
    const sandbox = await sandboxOf(rules, sandboxRulesFile(outputFolder), PATH);
    return hostLines({
      ...lines,
      env: { ...lines.env, PATH, CLAUDE_CODE_TMPDIR: join(scratch, 'tmp') },
      sandbox,
    });
  }
}

/** Which checks may run; in mode sandboxed rules of the project hold them, too. Throws PROJECT_SETTINGS_UNREADABLE. */
async function allowedFor({ decisions, worktree }: TaskRecord, spec: TaskSpec): Promise<AllowedChecks> {
  if (spec.permission_mode !== 'sandboxed') return allowedChecks(spec, decisions);
  const { sleepingSettings } = await import('../keeper/agent/project-settings.js');
  const { rules } = await sleepingSettings(worktree?.project_path ?? spec.project_path);
  return allowedChecks(spec, decisions, rules);
}

/** Where the repository of the work is, and the project in it. Its worktree may be gone, and what was committed is where it was made from. */
function placeOf({ worktree }: TaskRecord, repository: string, project: string) {
  if (worktree !== undefined) return { repository: worktree.repository, folder: worktree.project_path };
  const main = existsSync(repository) ? undefined : worktreeOf(project)?.replace(OF_WORKTREES, '');
  return main === undefined
    ? { repository, folder: project }
    : { repository: main, folder: join(main, relative(repository, project)) };
}

function notRun(checks: NonNullable<TaskSpec['checks']>, why: string): Verification {
  const results = checks.map(({ name, command }) => ({ name, command, verdict: 'not run' as const, why }));
  return { results, tests: [], linked: [], notes: [] };
}
