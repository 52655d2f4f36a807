import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { oneLine, someNames } from '../../base/text/text.js';
import type { StateDir } from '../../store/state-dir.js';
import { overlappingTasks } from './overlapping-tasks.js';
import { gitChangesSchema, type GitReport } from './receipt.js';
import { isNative, type TaskRecord } from '../task.js';

/** A repository that takes longer than this at the start gets no first snapshot. */
const BEFORE_LIMIT_MS = 5_000;
const AFTER_LIMIT_MS = 8_000;
const WHY_CHARS = 300;
const OF_PERSON = 'Sessions of people are not compared with git.';

const projectStateSchema = z.object({
  repository: z.string(),
  branch: z.string().nullable(),
  head: z.string().nullable(),
  tips: z.array(z.string()),
  dirty: z.array(z.object({ path: z.string(), untracked: z.boolean(), stamp: z.string() })),
  dirty_count: z.number(),
});
type ProjectState = z.infer<typeof projectStateSchema>;

const noneSchema = z.object({ state: z.literal('none'), why: z.string() });
const unknownSchema = z.object({ state: z.literal('unknown'), why: z.string() });
const stateSchema = z.discriminatedUnion('state', [
  projectStateSchema.extend({ state: z.literal('repository') }),
  noneSchema,
]);
const changesSchema = z.discriminatedUnion('state', [
  gitChangesSchema.extend({
    state: z.literal('repository'),
    branch: z.string().nullable(),
    head: z.string().nullable(),
    filtered: z.array(z.string()).default([]),
  }),
  noneSchema,
]);

/** `tasks/<task_id>/git-before.json`: how the repository stood when the task began. */
const beforeSchema = z.object({
  taken_at: z.string(),
  found: z.union([stateSchema, unknownSchema]),
});

/** Reads the repository of a project without running what it names. The composition root passes it; its answers are parsed here. */
export interface ProjectLooker {
  before(projectPath: string, signal: AbortSignal): Promise<object>;
  /** `sinceMs`: milliseconds since the epoch at the first snapshot; `before` is undefined where there was no repository. */
  after(
    projectPath: string,
    before: ProjectState | undefined,
    sinceMs: number,
    signal: AbortSignal,
  ): Promise<object>;
}

/** The two snapshots of a task's project. The first one is on disk, so that it outlives the keeper. */
export class ReceiptGit {
  readonly #stateDir: StateDir;
  /** Loaded when it is first needed: no start waits for it. */
  readonly #looker: () => Promise<ProjectLooker>;

  constructor(stateDir: StateDir, looker: () => Promise<ProjectLooker>) {
    this.#stateDir = stateDir;
    this.#looker = looker;
  }

  /** Takes the first snapshot, within 5 s. Never rejects: what it could not read is recorded as unknown. */
  async lookBefore(taskId: string, projectPath: string): Promise<void> {
    const taken_at = new Date().toISOString();
    const found = await this.#try(BEFORE_LIMIT_MS, async (looker, signal) =>
      stateSchema.parse(await looker.before(projectPath, signal)),
    );
    // Not durable: after a crash of the machine the receipt says that the first snapshot is missing.
    const before: z.infer<typeof beforeSchema> = { taken_at, found };
    await writeJsonFileAtomically(this.#file(taskId), before, { durable: false }).catch(() => {
      // A full disk is reported by every required write; without this file the receipt says that the first snapshot is missing.
    });
  }

  /** The second snapshot, and the differences. Never rejects. */
  async report(record: TaskRecord): Promise<GitReport> {
    if (isNative(record)) return { state: 'unknown', why: OF_PERSON };
    const file = await readJsonFile(this.#file(record.task_id), beforeSchema).catch(() => undefined);
    if (file?.state !== 'ok') return { state: 'unknown', why: 'Nobody looked at it when the task began.' };
    const { found, taken_at } = file.value;
    if (found.state === 'unknown') return found;
    const first = found.state === 'repository' ? found : undefined;
    const after = await this.#try(AFTER_LIMIT_MS, async (looker, signal) =>
      changesSchema.parse(await looker.after(record.project_path, first, Date.parse(taken_at), signal)),
    );
    if (after.state === 'none' && first === undefined) return after;
    if (after.state !== 'repository') return { state: 'unknown', why: after.why };
    const { branch, head, filtered, ...changes } = after;
    const repository = first?.repository ?? record.project_path;
    return {
      ...changes,
      repository,
      notes: [
        ...notesOf(record, first, { taken_at, filtered }),
        ...(await this.#overlap(record, repository)),
      ],
      branch_before: first?.branch ?? null,
      branch_after: branch,
      head_before: first?.head ?? null,
      head_after: head,
    };
  }

  async #overlap(record: TaskRecord, repository: string): Promise<string[]> {
    try {
      const others = await overlappingTasks(record, repository, this.#stateDir);
      if (others.length === 0) return [];
      return [
        `Others ran in this repository meanwhile, and what git saw may be theirs, too: ${others.join(', ')}.`,
      ];
    } catch (error) {
      return [`Whether others ran in this repository meanwhile is not known: ${messageOf(error)}.`];
    }
  }

  #file(taskId: string): string {
    return join(this.#stateDir.taskDir(taskId), 'git-before.json');
  }

  async #try<T>(
    limitMs: number,
    look: (looker: ProjectLooker, signal: AbortSignal) => Promise<T>,
  ): Promise<T | z.infer<typeof unknownSchema>> {
    try {
      return await look(await this.#looker(), AbortSignal.timeout(limitMs));
    } catch (error) {
      const next = error instanceof BridgeError && error.code === 'GIT_NOT_FOUND' ? ` ${error.hint}` : '';
      return { state: 'unknown', why: oneLine(`${messageOf(error)}${next}`, WHY_CHARS) };
    }
  }
}

function notesOf(
  record: TaskRecord,
  first: ProjectState | undefined,
  { taken_at, filtered }: { readonly taken_at: string; readonly filtered: readonly string[] },
): string[] {
  const notes: string[] = [];
  if (first === undefined)
    notes.push('The repository was made during the task: which of its files are new is not known.');
  else if (first.dirty_count > first.dirty.length)
    notes.push(
      `Of ${first.dirty_count} uncommitted files before the task only ${first.dirty.length} were remembered.`,
    );
  // Claude Code writes nothing before it asks; another program may write at once.
  if (record.session_id === null && record.started_at !== null && taken_at > record.started_at)
    notes.push('The first look was taken while the program already ran.');
  if (filtered.length > 0)
    notes.push(
      `Not compared, since git does it through a filter (such as git-lfs) and the bridge runs none: ${someNames(filtered)}.`,
    );
  return notes;
}
