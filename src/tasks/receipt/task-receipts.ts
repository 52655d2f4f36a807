import { sleep, type Clock } from '../../base/clock.js';
import { readJsonFile } from '../../base/files/json-file.js';
import type { Logger } from '../../base/logger.js';
import { ownerState } from '../../store/owner-state.js';
import type { StateDir } from '../../store/state-dir.js';
import { isFailingNow } from '../run/storage-watch.js';
import { ReceiptMaker } from './receipt-maker.js';
import { receiptSchema, type Receipt } from './receipt.js';
import { isFinal, isNative, type TaskRecord } from '../task.js';

/** A keeper makes the receipt right after the end, within some 20 s; a call answers before its client gives up. */
const WAIT_LIMIT_MS = 25_000;
/** A keeper waits for a full disk before it makes the receipt, for minutes if need be: a call does not. */
const FAILING_LIMIT_MS = 1_000;
const LOOK_INTERVAL_MS = 50;

export interface TaskReceiptsParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly maker: ReceiptMaker;
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

  async receiptOf(record: TaskRecord, signal: AbortSignal): Promise<Receipt | undefined> {
    if (!isFinal(record.status)) return undefined;
    const { clock, maker, stateDir } = this.#parts;
    if (isNative(record)) return (await this.#read(record)) ?? maker.make(record, record.status !== 'error');
    const limitMs = isFailingNow(record.storage) ? FAILING_LIMIT_MS : WAIT_LIMIT_MS;
    const deadlineMs = clock.monotonicMs() + limitMs;
    for (;;) {
      const isKept = record.keeper !== null && (await ownerState(record.keeper, stateDir.path)) !== 'gone';
      // Read after the keeper was looked for: one that ended in between has written it.
      const written = await this.#read(record);
      if (written !== undefined) return maker.asNow(written, record);
      if (!isKept || signal.aborted || clock.monotonicMs() >= deadlineMs) return maker.make(record, false);
      await sleep(clock, LOOK_INTERVAL_MS, signal);
    }
  }

  async #read({ task_id }: TaskRecord): Promise<Receipt | undefined> {
    const { stateDir, logger } = this.#parts;
    const file = await readJsonFile(ReceiptMaker.file(stateDir, task_id), receiptSchema);
    if (file.state === 'ok') return file.value;
    if (file.state === 'corrupt') logger.warn('a receipt cannot be read', { task_id, why: file.why });
    return undefined;
  }
}
