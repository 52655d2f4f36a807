import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { Logger } from '../../base/logger.js';
import { oneLine } from '../../base/text.js';
import { ownerState } from '../../store/owner-state.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFailingNow } from '../run/storage-watch.js';
import { folderGoneNote, isFinal, isNative, type TaskRecord } from '../task.js';
import { readReceiptFacts } from './receipt-facts.js';
import { gitReport, treesOf, type ReceiptGitParts } from './receipt-git.js';
import { receiptSchema, sensitiveFiles, treeOf, type GitReport, type Receipt } from './receipt.js';
import { taskPatch, type TaskPatch } from './task-patch.js';

/** Reading of transcript and journal ends then; what was read by then is reported, with a note that it is incomplete. */
const READ_LIMIT_MS = 8_000;
/** A keeper makes the receipt right after the end, within some 20 s; a call answers before its client gives up. */
const WAIT_LIMIT_MS = 25_000;
/** A keeper waits for a full disk before it makes the receipt, for minutes if need be: a call does not. */
const FAILING_LIMIT_MS = 1_000;
const LOOK_INTERVAL_MS = 50;
const SUMMARY_CHARS = 300;

export interface TaskReceiptsParts extends ReceiptGitParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where Claude Code keeps its transcripts. */
  readonly claudeConfigDir: string | undefined;
}

/**
 * The receipts of tasks that have ended: as their keepers wrote them, or made here for a keeper that could not. Those of sessions of
 * people are always made here, when they are asked for. What git says of a worktree is read each time until it is finished, since it is
 * what will be brought home.
 */
export class TaskReceipts {
  readonly #parts: TaskReceiptsParts;

  constructor(parts: TaskReceiptsParts) {
    this.#parts = parts;
  }

  /**
   * Makes the receipt and writes it. `isComplete` is false for one that is made later, without the task's keeper, where that
   * should have made it. A disk that does not take it is reported in the log. Takes at most some 20 s.
   */
  async make(record: TaskRecord, isComplete: boolean): Promise<Receipt> {
    const { stateDir, logger } = this.#parts;
    const { task_id } = record;
    const receipt = await receiptNow(record, isComplete, this.#parts);
    await writeJsonFileAtomically(fileOf(stateDir, task_id), receipt).catch((error: unknown) =>
      logger.error('the receipt could not be written', { task_id, error: messageOf(error) }),
    );
    return receipt;
  }

  /** Undefined while the task runs. Waits at most 25 s for a keeper that is just making it. */
  async receiptOf(record: TaskRecord, signal: AbortSignal): Promise<Receipt | undefined> {
    const { clock, stateDir, logger } = this.#parts;
    const { task_id, status, keeper, storage } = record;
    if (!isFinal(status)) return undefined;
    const isOfPerson = isNative(record);
    const deadlineMs =
      clock.monotonicMs() + (isOfPerson ? 0 : isFailingNow(storage) ? FAILING_LIMIT_MS : WAIT_LIMIT_MS);
    for (;;) {
      const isKept = keeper !== null && (await ownerState(keeper, stateDir.path)) !== 'gone';
      // Read after the keeper was looked for: one that ended in between has written it.
      const written = await readReceipt(stateDir, task_id, (why) =>
        logger.warn('a receipt cannot be read', { task_id, why }),
      );
      if (written !== undefined) return this.#asNow(written, record);
      if (!isKept || signal.aborted || clock.monotonicMs() >= deadlineMs)
        return this.make(record, isOfPerson && status !== 'error');
      await sleep(clock, LOOK_INTERVAL_MS, signal);
    }
  }

  /** What git sees of the task's work: of one that has ended, as its receipt says. */
  async reportOf(record: TaskRecord): Promise<GitReport> {
    const receipt = await this.receiptOf(record, new AbortController().signal);
    return receipt?.git ?? gitReport(this.#parts, record);
  }

  /** Throws NOT_A_REPOSITORY where git saw nothing of the task. */
  async patchOf(record: TaskRecord): Promise<TaskPatch> {
    return taskPatch(record, (task) => this.reportOf(task), treesOf(this.#parts.stateDir, record.task_id));
  }

  /** A receipt with what git says now, where the task's worktree waits to be finished. A shared folder may be back. */
  async #asNow(receipt: Receipt, record: TaskRecord): Promise<Receipt> {
    if (record.worktree === undefined && existsSync(record.project_path))
      return { ...receipt, notes: receipt.notes.filter((note) => note !== folderGoneNote(record)) };
    if (record.worktree === undefined || record.worktree.finished !== undefined) return receipt;
    const git = await gitReport(this.#parts, record);
    if (git.state !== 'repository') {
      const note = `git is shown as it was when the task ended. ${git.why} Try again to see what is in the worktree now.`;
      return { ...receipt, notes: [...receipt.notes, note] };
    }
    const { project_path } = record;
    const notes =
      treeOf({ git }) === treeOf(receipt)
        ? receipt.notes
        : [...receipt.notes, 'The worktree has changed since the task ended: git is shown as it is now.'];
    const sensitive = sensitiveFiles(project_path, receipt.files, git, this.#parts.claudeConfigDir);
    return { ...receipt, notes, git, sensitive_files: sensitive };
  }
}

export type ReceiptService = Pick<TaskReceipts, 'receiptOf'>;
export type TaskChanges = Pick<TaskReceipts, 'reportOf' | 'patchOf'>;

/** The receipt of a task on disk; undefined for none, and for one that cannot be read. */
export async function readReceipt(
  stateDir: StateDir,
  taskId: string,
  onCorrupt?: (why: string) => void,
): Promise<Receipt | undefined> {
  const file = await readJsonFile(fileOf(stateDir, taskId), receiptSchema);
  if (file.state === 'corrupt') onCorrupt?.(file.why);
  return file.state === 'ok' ? file.value : undefined;
}

function fileOf(stateDir: StateDir, taskId: string): string {
  return join(stateDir.taskDir(taskId), 'receipt.json');
}

async function receiptNow(
  record: TaskRecord,
  isComplete: boolean,
  parts: TaskReceiptsParts,
): Promise<Receipt> {
  const { stateDir, clock, claudeConfigDir } = parts;
  const { task_id, status, reason, final_message, turns, exit_code, cli_version } = record;
  // First what changes from now on: somebody else may work in the project already.
  const [git, { notes, ...facts }] = await Promise.all([
    gitReport(parts, record, isComplete),
    readReceiptFacts(
      record,
      {
        journal: stateDir.journalFile(task_id),
        configDir: claudeConfigDir,
        isKilled: !isComplete && record.keeper !== null,
      },
      Date.parse(record.created_at),
      AbortSignal.timeout(READ_LIMIT_MS),
    ),
  ]);
  const isGone = !isNative(record) && record.worktree === undefined && !existsSync(record.project_path);
  return {
    version: 1,
    task_id,
    status,
    reason,
    complete: isComplete,
    notes: [...originOf(record, isComplete), ...(isGone ? [folderGoneNote(record)] : []), ...notes],
    made_at: new Date(clock.now()).toISOString(),
    final_message,
    turns,
    duration_seconds: record.elapsed_seconds,
    exit_code,
    model: facts.usage.models[0]?.model ?? record.model,
    cli_version,
    ...facts,
    sensitive_files: sensitiveFiles(record.project_path, facts.files, git, claudeConfigDir),
    git,
    decisions: record.decisions.map((one) => ({
      decision_id: one.decision_id,
      kind: one.kind,
      summary: oneLine(one.summary, SUMMARY_CHARS),
      verdict: one.verdict ?? 'open',
      answered_by: one.answered_by ?? 'nobody',
      reason: oneLine(one.reason ?? '', SUMMARY_CHARS),
      ...(one.why !== undefined && { why: one.why }),
      ...(one.edits !== undefined && { edits: one.edits }),
    })),
  };
}

/** How the receipt came about, where the keeper of the task did not make it at its end. */
function originOf(record: TaskRecord, isComplete: boolean): string[] {
  if (isNative(record)) return ["This session was its person's: the receipt is made of what the bridge saw."];
  if (isComplete) return [];
  if (record.keeper === null) return ['The task ended while it was queued: nothing was started.'];
  if (!isFailingNow(record.storage))
    return [
      'The keeper of the task wrote no receipt; this one was made later from what it and Claude Code had written down. What happened in the last second before it was killed may be missing.',
    ];
  return [
    `The disk does not take what the task writes (${oneLine(record.storage ?? '', SUMMARY_CHARS)}), so its keeper has written no receipt yet; this one was made from what it had written down.`,
  ];
}
