import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { withinMs } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { systemClock } from '../base/system-clock.js';
import {
  CHECKS_TOOL,
  heldChecks,
  questionWords,
  type AskChecks,
  type HeldChecks,
} from '../checks/allowed-checks.js';
import { notRun, type Verification } from '../checks/result.js';
import { hostLines, type StartLine } from '../checks/run-command.js';
import { sandboxOf, sandboxRulesFile, sandboxRulesSchema } from '../checks/sandboxed-lines.js';
import { verifyWork } from '../checks/verify.js';
import type { GitDoor } from '../git/run/repository-git.js';
import { checkMark } from '../os/mark-variable.js';
import { childEnvironment } from '../pty/child-env.js';
import { pathOutside } from '../projects/path-outside.js';
import { worktreeOf } from '../projects/worktree-path.js';
import { linkToSelf } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import type { StateDir } from '../store/state-dir.js';
import type { TaskChanges } from '../tasks/receipt/task-receipts.js';
import { requireNotVerified } from '../tasks/record/not-verified.js';
import { taskSpecSchema, type TaskSpec } from '../tasks/task-spec.js';
import type { TaskRecord } from '../tasks/task.js';

/** From a worktree to the top that it was made from. */
const OF_WORKTREE = '../../..';
const OWNER_ONLY = 0o700;

export interface VerificationsParts {
  readonly stateDir: StateDir;
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
   * Begins a run, or joins the one that goes on or that no caller has heard of yet; undefined while it runs on after `limitMs`, and where
   * `ask`, which is called where a person has to allow checks, gives no answer. Rejects with INVALID_ARGUMENTS for a task without checks,
   * TASK_ALREADY_RUNNING while another process verifies it, PROJECT_SETTINGS_UNREADABLE, and as `patchOf` and `openWork`.
   */
  async verify(record: TaskRecord, ask: AskChecks, limitMs: number): Promise<Verification | undefined> {
    const { task_id } = record;
    let run = this.#runs.get(task_id);
    if (run === undefined) {
      const spec = await this.#spec(task_id);
      const held = await heldFor(record, spec);
      const isAllowed = held.toAsk.length > 0 && (await ask(questionWords(held)));
      if (isAllowed === undefined) return undefined;
      // Another call may have begun meanwhile.
      run =
        this.#runs.get(task_id) ?? this.#exclusive(record, spec, isAllowed ? { ...held, toAsk: [] } : held);
      this.#runs.set(task_id, run);
      run.catch(() => this.#runs.delete(task_id));
    }
    const found = await withinMs(systemClock, limitMs, run);
    if (found !== undefined) this.#runs.delete(task_id);
    return found;
  }

  /** Stops what runs; resolves when nothing of it is left. */
  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#runs.values());
  }

  /** A link in the folder of the task says who verifies it, so that no other process does, and none ends the checks as leftovers. */
  async #exclusive(record: TaskRecord, spec: TaskSpec, held: HeldChecks): Promise<Verification> {
    const { stateDir } = this.#parts;
    const { task_id } = record;
    const link = stateDir.verifierFile(task_id);
    if (!(await linkToSelf(link, stateDir.path))) {
      await requireNotVerified(stateDir, task_id);
      await rm(link, { force: true });
      return this.#exclusive(record, spec, held);
    }
    try {
      return await this.#verified(record, spec, held);
    } finally {
      await rm(link, { force: true });
    }
  }

  async #spec(task_id: string): Promise<TaskSpec> {
    const read = await readJsonFile(this.#parts.stateDir.specFile(task_id), taskSpecSchema);
    if (read.state === 'ok' && read.value.checks !== undefined) return read.value;
    throw new BridgeError('INVALID_ARGUMENTS', `${task_id} was given no checks.`, [
      'Start a task with checks, or set them for the project.',
    ]);
  }

  async #verified(record: TaskRecord, spec: TaskSpec, { toAsk, why }: HeldChecks): Promise<Verification> {
    const { stateDir, door, changes } = this.#parts;
    const { checks = [], project_path: project, brief } = spec;
    const nothing = (said: string): Verification => ({
      ...{ results: notRun(checks, said), rounds: 0, tests: [], notes: [] },
    });
    if (spec.container !== undefined) return nothing('the container that the agent worked in is gone');
    const patch = await changes.patchOf(record);
    if (patch.state === 'nothing') return nothing(patch.why);
    const { base, end, objects, repository: top } = patch.query;
    if (base === null || end === undefined)
      return nothing('the files that the task began or ended with were not kept');
    const allowed = checks.filter((check) => !toAsk.includes(check));
    if (allowed.length === 0) return nothing(why);
    const taskDir = stateDir.taskDir(record.task_id);
    const isConfined = spec.permission_mode === 'sandboxed';
    const rules = isConfined ? await readJsonFile(sandboxRulesFile(taskDir), sandboxRulesSchema) : undefined;
    if (rules !== undefined && rules.state !== 'ok')
      return nothing('no sandbox: the rules of that of the task were not kept');
    const scratch = join(taskDir, 'verify');
    const outputFolder = join(taskDir, 'verified');
    const query = { folder: folderOf(record, top, project), base, end, objects };
    const parts = { door, query, checks: allowed, brief, scratch, outputFolder };
    const linesIn = async (within: string): Promise<StartLine> => {
      // The commands in the copies have what those of the task had.
      const { shell, pass_environment: passed } = spec.settings;
      const mark = checkMark(record.process_mark);
      const env = childEnvironment(this.#parts.env, { mark, passEnvironment: passed });
      const startedSince = (await ownIdentity()).start_time ?? undefined;
      const lines = { shell, env, passed, mark, startedSince };
      if (rules === undefined) return hostLines(lines);
      // In a sandbox they write into the copies alone, and do not read there either what they may not read in the project.
      const places = [project, ...['after', 'before'].map((side) => join(scratch, side, within))];
      const { network, filesystem } = rules.value;
      const denyRead = filesystem.denyRead.flatMap((path) =>
        places.map((to) => path.replace(project, () => to)),
      );
      const inCopies = { network, filesystem: { allowWrite: [scratch], denyWrite: [], denyRead } };
      // Commands of a sandbox may have written programs there, and what makes this one runs outside.
      const PATH = await pathOutside(env['PATH'] ?? '', [project, top]);
      await mkdir(outputFolder, { recursive: true, mode: OWNER_ONLY });
      const sandbox = await sandboxOf(inCopies, sandboxRulesFile(outputFolder), PATH);
      const CLAUDE_CODE_TMPDIR = join(scratch, 'tmp');
      return hostLines({ ...lines, env: { ...env, PATH, CLAUDE_CODE_TMPDIR }, sandbox });
    };
    const found = await verifyWork({ ...parts, linesIn }, this.#stop.signal);
    return { ...found, results: [...found.results, ...notRun(toAsk, why)] };
  }
}

/** Which checks a person has to allow, and has not; in mode sandboxed rules of the project hold them, too. Throws PROJECT_SETTINGS_UNREADABLE. */
async function heldFor({ decisions, worktree }: TaskRecord, spec: TaskSpec): Promise<HeldChecks> {
  const { sleepingSettings } = await import('../keeper/agent/project-settings.js');
  const isConfined = spec.permission_mode === 'sandboxed';
  const project = worktree?.project_path ?? spec.project_path;
  const held = heldChecks(spec, isConfined ? (await sleepingSettings(project)).rules : []);
  const isAllowed = decisions.some(
    ({ tool, verdict, is_for_person }) =>
      is_for_person === true && tool === CHECKS_TOOL && verdict?.startsWith('allow') === true,
  );
  return isAllowed ? { ...held, toAsk: [] } : held;
}

/** The project in a repository that is there: its worktree may be gone, and what was committed is where that was made from. */
function folderOf({ worktree }: TaskRecord, repository: string, project: string): string {
  if (worktree !== undefined) return worktree.project_path;
  const gone = existsSync(repository) ? undefined : worktreeOf(project);
  return gone === undefined ? project : join(resolve(gone, OF_WORKTREE), relative(gone, project));
}
