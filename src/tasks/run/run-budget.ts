import { BridgeError, messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionUsage, ToolCall } from '../../claude/session.js';
import {
  addedSpent,
  BUDGET,
  budgetState,
  DAY_BUDGET,
  isLimited,
  spentOf,
  type Budget,
  type Spent,
} from '../budget/budget.js';
import type { RunCore } from './run-state.js';

/** Beside each call of a tool: a session may go on without one, and its subagents do. */
const COUNT_INTERVAL_MS = 2_000;

/** Counts what a session uses, and ends it when the budget of the task or of the day is used up. */
export class RunBudget implements Disposable {
  readonly #parts: RunCore;
  readonly #task: Budget;
  readonly #day: Budget;
  #timer: Disposable | undefined;
  #isWarned = false;
  /** Why the session is ended, once it is. */
  #end: string | undefined;

  constructor(parts: RunCore) {
    this.#parts = parts;
    this.#task = parts.spec.budget ?? {};
    this.#day = parts.spec.settings.day_budget ?? {};
  }

  /** Throws INVALID_ARGUMENTS for a session that cannot be counted, and BUDGET_USED when the day has nothing left. */
  async open(): Promise<void> {
    if (!this.#isLimited) return;
    const { driver, spending, spec } = this.#parts;
    if (driver.usage === undefined) throw cannotCount(spec.container !== undefined);
    const day = spending && budgetState(await spending.others(), this.#day);
    if (day?.state === 'used') throw usedUp(day.words);
  }

  /** From now on it is counted again and again. */
  watch(): void {
    if (!this.#isLimited) return;
    this.#timer = this.#parts.clock.after(
      COUNT_INTERVAL_MS,
      () => void this.count().then(() => this.watch()),
    );
  }

  /**
   * Before a call of a tool, with which the session would ask the model again: why it must not run, once the session is ended;
   * undefined when it may.
   */
  async refusal(call: ToolCall): Promise<string | undefined> {
    if (!this.#isLimited) return undefined;
    const { state, story } = this.#parts;
    const spent = await this.count(call.id);
    const unknown = spent === undefined ? 'its tokens' : spent.costUsd === null ? 'its cost' : undefined;
    const isNeeded =
      unknown === 'its tokens' || this.#task.max_cost_usd != null || this.#day.max_cost_usd != null;
    if (unknown !== undefined && isNeeded)
      this.#endWith('failed', `The budget cannot be held: Claude Code does not report ${unknown}.`);
    if (this.#end === undefined) return undefined;
    story.refusedByBudget(call.id ?? '');
    await state.ended;
    return this.#end;
  }

  /** Counts what the session has used by now, with the message that made a call; undefined where nothing tells. */
  async count(callId?: string): Promise<Spent | undefined> {
    const { driver, logger } = this.#parts;
    try {
      const usage = await driver.usage?.(callId);
      return usage === undefined ? undefined : await this.take(usage);
    } catch (error) {
      logger.warn('what the session has used could not be counted', { error: messageOf(error) });
      return undefined;
    }
  }

  /** What the session has used, as it reports. */
  async take(usage: SessionUsage): Promise<Spent> {
    const { state, spending } = this.#parts;
    const spent = spentOf(usage);
    const { tokens, cost_usd } = state.record;
    if (spent.tokens !== (tokens ?? 0) || (spent.costUsd ?? cost_usd) !== cost_usd)
      state.update({ tokens: spent.tokens, ...(spent.costUsd !== null && { cost_usd: spent.costUsd }) });
    this.#judge(spent, this.#task, BUDGET);
    if (spending !== undefined && isLimited(this.#day))
      this.#judge(addedSpent(await spending.others(), spent), this.#day, DAY_BUDGET);
    return spent;
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  get #isLimited(): boolean {
    return isLimited(this.#task) || isLimited(this.#day);
  }

  #judge(spent: Spent, budget: Budget, name: string): void {
    const now = budgetState(spent, budget);
    if (now?.state === 'used') this.#endWith('killed', `${name}: ${now.words}`);
    if (now?.state !== 'low' || this.#isWarned || !this.#parts.phase.isOpen) return;
    this.#isWarned = true;
    this.#parts.story.budgetLow(name, now.words);
    this.#parts.state.warn(`80 % of the ${name} is used: ${now.words}`);
  }

  /** Work that is done stays done, whatever it has cost. */
  #endWith(status: 'killed' | 'failed', reason: string): void {
    const { state, phase } = this.#parts;
    if (!phase.isOpen) return;
    this.#end = reason;
    state.end({ status, reason });
  }
}

function cannotCount(isContainer: boolean): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `A budget is set, and what ${isContainer ? 'a terminal session in a container' : 'this program'} uses is not known here.`,
    isContainer
      ? 'Use driver "print", or start the task without isolation.'
      : 'Start it without max_cost_usd, max_tokens, task_budget and day_budget, or use Claude Code.',
  );
}

function usedUp(words: string): BridgeError {
  return new BridgeError(
    'BUDGET_USED',
    `The budget of the day is used up: ${words}.`,
    'Wait for tomorrow, or ask the user to raise day_budget.',
  );
}
