import { join } from 'node:path';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { Logger } from '../../base/logger.js';
import { oneLine } from '../../base/text.js';
import { ownerState } from '../../store/owner-state.js';
import type { StateDir } from '../../store/state-dir.js';
import { readReceiptFacts } from './receipt-facts.js';
import type { ReceiptGit } from './receipt-git.js';
import {
  RECEIPT_VERSION,
  receiptSchema,
  sensitiveFiles,
  treeOf,
  type AnsweredDecision,
  type Receipt,
} from './receipt.js';
import { isFailingNow } from '../run/storage-watch.js';
import { isFinal, isNative, type TaskRecord } from '../task.js';

/** Reading of transcript and journal ends then; what was read by then is reported, with a note that it is incomplete. */
const READ_LIMIT_MS = 8_000;
/** A keeper makes the receipt right after the end, within some 20 s; a call answers before its client gives up. */
const WAIT_LIMIT_MS = 25_000;
/** A keeper waits for a full disk before it makes the receipt, for minutes if need be: a call does not. */
const FAILING_LIMIT_MS = 1_000;
const LOOK_INTERVAL_MS = 50;
const SUMMARY_CHARS = 300;
const CHANGED_SINCE = 'The worktree has changed since the task ended: git is shown as it is now.';
const CALL_AGAIN = 'Try again to see what is in the worktree now.';
const OF_PERSON = "This session was its person's: the receipt is made of what the bridge saw.";

export interface TaskReceiptsParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly git: ReceiptGit;
  /** Where Claude Code keeps its transcripts. */
  readonly claudeConfigDir: string | undefined;
}

/** Receipts as the edges see them. */
export interface ReceiptService {
  /** Undefined while the task runs. Waits at most 25 s for a keeper that is just making it. */
  receiptOf(record: TaskRecord, signal: AbortSignal): Promise<Receipt | undefined>;
}

/**
 * The receipts of tasks that have ended: as their keepers wrote them, or made here for a keeper that could not. Those of sessions of
 * people are always made here, when they are asked for. What git says of a worktree is read each time until it is finished, since it is
 * what will be brought home.
 */
export class TaskReceipts implements ReceiptService {
  readonly #parts: TaskReceiptsParts;

  constructor(parts: TaskReceiptsParts) {
    this.#parts = parts;
  }

  /** Path of a task's receipt. */
  static file(stateDir: StateDir, taskId: string): string {
    return join(stateDir.taskDir(taskId), 'receipt.json');
  }

  /**
   * Makes the receipt and writes it. `isComplete` is false for one that is made later, without the task's keeper, where that
   * should have made it. A disk that does not take it is reported in the log. Nothing is written for a session without a task.
   * Takes at most some 20 s.
   */
  async make(record: TaskRecord, isComplete: boolean): Promise<Receipt> {
    const { stateDir, logger } = this.#parts;
    const receipt = await this.#receiptOf(record, isComplete);
    await writeJsonFileAtomically(TaskReceipts.file(stateDir, record.task_id), receipt).catch(
      (error: unknown) =>
        logger.error('the receipt could not be written', {
          task_id: record.task_id,
          error: messageOf(error),
        }),
    );
    return receipt;
  }

  async receiptOf(record: TaskRecord, signal: AbortSignal): Promise<Receipt | undefined> {
    if (!isFinal(record.status)) return undefined;
    const { clock, stateDir } = this.#parts;
    if (isNative(record)) return (await this.#read(record)) ?? this.make(record, record.status !== 'error');
    const limitMs = isFailingNow(record.storage) ? FAILING_LIMIT_MS : WAIT_LIMIT_MS;
    const deadlineMs = clock.monotonicMs() + limitMs;
    for (;;) {
      const isKept = record.keeper !== null && (await ownerState(record.keeper, stateDir.path)) !== 'gone';
      // Read after the keeper was looked for: one that ended in between has written it.
      const written = await this.#read(record);
      if (written !== undefined) return this.#asNow(written, record);
      if (!isKept || signal.aborted || clock.monotonicMs() >= deadlineMs) return this.make(record, false);
      await sleep(clock, LOOK_INTERVAL_MS, signal);
    }
  }

  async #read({ task_id }: TaskRecord): Promise<Receipt | undefined> {
    const { stateDir, logger } = this.#parts;
    const file = await readJsonFile(TaskReceipts.file(stateDir, task_id), receiptSchema);
    if (file.state === 'ok') return file.value;
    if (file.state === 'corrupt') logger.warn('a receipt cannot be read', { task_id, why: file.why });
    return undefined;
  }

  /** A receipt with what git says now, where the task's worktree waits to be finished. */
  async #asNow(receipt: Receipt, record: TaskRecord): Promise<Receipt> {
    const { git, claudeConfigDir } = this.#parts;
    if (record.worktree === undefined || record.worktree.finished !== undefined) return receipt;
    const report = await git.report(record);
    if (report.state !== 'repository') {
      const notes = [
        ...receipt.notes,
        `git is shown as it was when the task ended. ${report.why} ${CALL_AGAIN}`,
      ];
      return { ...receipt, notes };
    }
    const isSame = treeOf({ git: report }) === treeOf(receipt);
    return {
      ...receipt,
      notes: isSame ? receipt.notes : [...receipt.notes, CHANGED_SINCE],
      git: report,
      sensitive_files: sensitiveFiles(record.project_path, receipt.files, report, claudeConfigDir),
    };
  }

  async #receiptOf(record: TaskRecord, isComplete: boolean): Promise<Receipt> {
    const { stateDir, clock, git, claudeConfigDir } = this.#parts;
    const sinceMs = Date.parse(record.created_at);
    // First what changes from now on: somebody else may work in the project already.
    const [gitReport, facts] = await Promise.all([
      git.report(record, isComplete),
      readReceiptFacts(
        record,
        { journal: stateDir.journalFile(record.task_id), configDir: claudeConfigDir },
        sinceMs,
        AbortSignal.timeout(READ_LIMIT_MS),
      ),
    ]);
    const { notes, ...shown } = facts;
    return {
      version: RECEIPT_VERSION,
      task_id: record.task_id,
      status: record.status,
      reason: record.reason,
      complete: isComplete,
      notes: [...originOf(record, isComplete), ...notes],
      made_at: new Date(clock.now()).toISOString(),
      final_message: record.final_message,
      turns: record.turns,
      duration_seconds: record.elapsed_seconds,
      exit_code: record.exit_code,
      model: shown.usage.models[0]?.model ?? record.model,
      cli_version: record.cli_version,
      ...shown,
      sensitive_files: sensitiveFiles(record.project_path, shown.files, gitReport, claudeConfigDir),
      git: gitReport,
      decisions: answered(record),
    };
  }
}

/** How the receipt came about, where the keeper of the task did not make it at its end. */
function originOf(record: TaskRecord, isComplete: boolean): string[] {
  if (isNative(record)) return [OF_PERSON];
  return isComplete ? [] : [whyIncomplete(record)];
}

function whyIncomplete({ keeper, storage }: TaskRecord): string {
  if (keeper === null) return 'The task ended while it was queued: nothing was started.';
  if (!isFailingNow(storage))
    return 'The keeper of the task wrote no receipt; this one was made later from what it had written down.';
  return `The disk does not take what the task writes (${oneLine(storage ?? '', SUMMARY_CHARS)}), so its keeper has written no receipt yet; this one was made from what it had written down.`;
}

function answered(record: TaskRecord): AnsweredDecision[] {
  return record.decisions.map(({ decision_id, kind, summary, why, verdict, answered_by, reason, edits }) => ({
    decision_id,
    kind,
    summary: oneLine(summary, SUMMARY_CHARS),
    verdict: verdict ?? 'open',
    answered_by: answered_by ?? 'nobody',
    reason: oneLine(reason ?? '', SUMMARY_CHARS),
    ...(why !== undefined && { why }),
    ...(edits !== undefined && { edits }),
  }));
}
