// Pure: what a session may use.
import { BridgeError, messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionUsage, ToolCall } from '../../claude/session.js';
import {
  addedSpent,
  BUDGET,
  budgetState,
  isLimited,
  spentOf,
  type Budget,
  type Spent,
} from '../budget/budget.js';
import type { RunState } from './run-state.js';
import type { Cause } from './session-phase.js';

/** Beside each call of a tool: a session may go on without one, and its subagents do. */
const COUNT_INTERVAL_MS = 2_000;
/** As people read them. */
const names = { task: BUDGET, day: `${BUDGET} of the day` } as const;

/** Counts what a session uses, and ends it when the budget of the task or of the day is used up. */
export class RunBudget implements Disposable {
  readonly #run: RunState;
  readonly #budgets: Readonly<Record<keyof typeof names, Budget>>;
  #timer: Disposable | undefined;
  #isWarned = false;
  /** Why the session is ended, once it is. */
  #end: string | undefined;

  constructor(run: RunState) {
    const { budget = {}, settings } = run.parts.spec;
    this.#run = run;
    this.#budgets = { task: budget, day: settings.day_budget ?? {} };
  }

  /** Throws INVALID_ARGUMENTS for a session that cannot be counted, and BUDGET_USED when the day has nothing left. */
  async open(): Promise<void> {
    if (!this.#isLimited) return;
    const { driver, spentByOthers, spec } = this.#run.parts;
    if (driver.usage === undefined) throw cannotCount(spec.container !== undefined);
    const day = spentByOthers && budgetState(await spentByOthers(), this.#budgets.day);
    if (day?.state !== 'used') return;
    throw new BridgeError(
      'BUDGET_USED',
      `The budget of the day is used up: ${day.words}.`,
      'Wait for tomorrow, or raise the setting day_budget.',
    );
  }

  /** From now on it is counted again and again. */
  watch(): void {
    if (!this.#isLimited) return;
    const { clock } = this.#run.parts;
    this.#timer = clock.after(COUNT_INTERVAL_MS, () => void this.count().then(() => this.watch()));
  }

  /**
   * Before a call of a tool, with which the session would ask the model again: why it must not run, once the session is ended;
   * undefined when it may.
   */
  async refusal(call: ToolCall): Promise<string | undefined> {
    if (!this.#isLimited) return undefined;
    const spent = await this.#asked(call.id);
    const { task, day } = this.#budgets;
    const needsCost = task.max_cost_usd != null || day.max_cost_usd != null;
    const unknown =
      spent === undefined ? 'its tokens' : needsCost && spent.costUsd === null ? 'its cost' : '';
    if (unknown !== '') {
      const reason = `The budget cannot be held: Claude Code does not report ${unknown}.`;
      this.#endWith({ status: 'failed', reason });
    }
    if (this.#end === undefined) return undefined;
    this.#run.story.tell('budget', { state: 'used', refused: call.id ?? '' });
    await this.#run.ended;
    return this.#end;
  }

  /** Counts what the session has used, as it reports at the end of a turn, or when it is asked. */
  async count(usage?: SessionUsage): Promise<void> {
    if (usage === undefined) await this.#asked();
    else await this.#take(usage);
  }

  /** What the session has used by now, with the message that made a call; undefined where nothing tells. */
  async #asked(callId?: string): Promise<Spent | undefined> {
    const { driver, logger } = this.#run.parts;
    try {
      const usage = await driver.usage?.(callId);
      return usage && (await this.#take(usage));
    } catch (error) {
      logger.warn('what the session has used could not be counted', { error: messageOf(error) });
      return undefined;
    }
  }

  async #take(usage: SessionUsage): Promise<Spent> {
    const { spentByOthers } = this.#run.parts;
    const spent = spentOf(usage);
    const { tokens = 0, cost_usd } = this.#run.record;
    if (spent.tokens !== tokens || (spent.costUsd ?? cost_usd) !== cost_usd)
      this.#run.show({ tokens: spent.tokens, ...(spent.costUsd !== null && { cost_usd: spent.costUsd }) });
    this.#judge(spent, 'task');
    if (spentByOthers !== undefined && isLimited(this.#budgets.day))
      this.#judge(addedSpent(await spentByOthers(), spent), 'day');
    return spent;
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  get #isLimited(): boolean {
    return isLimited(this.#budgets.task) || isLimited(this.#budgets.day);
  }

  #judge(spent: Spent, which: keyof typeof names): void {
    const now = budgetState(spent, this.#budgets[which]);
    const name = names[which];
    if (now?.state === 'used')
      this.#endWith({ status: 'killed', reason: `${name}: ${now.words}`, ended_by_budget: which });
    if (now?.state !== 'low' || this.#isWarned || !this.#run.isOpen) return;
    this.#isWarned = true;
    const warning = `80 % of the ${name} is used: ${now.words}`;
    this.#run.story.tell('budget', { state: 'low', words: now.words }, warning);
    this.#run.warn(warning);
  }

  /** Work that is done stays done, whatever it has cost. */
  #endWith(cause: Cause): void {
    if (!this.#run.isOpen) return;
    this.#end = cause.reason;
    this.#run.end(cause);
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
