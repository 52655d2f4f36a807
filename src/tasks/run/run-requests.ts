// Pure: what a session asks.
import { mentionedRule } from '../../approvals/mentions.js';
import { addressOf, commandOf, pathsOf } from '../../approvals/tool-table.js';
import { BridgeError } from '../../base/errors.js';
import type { SessionAnswer, SessionEvent, SessionRequest } from '../../claude/session.js';
import { SessionGrants, type Closing } from '../decisions/decision-book.js';
import { answerInWords, editsOf, planModeOf, sessionAnswerFor } from '../decisions/session-answer.js';
import { BY_CALLER, BY_FORM, type DecisionAnswer } from '../task-host.js';
import type { RuleVerdict, RunState } from './run-state.js';

/** Neither the hooks nor the screen report what the person chose; the events after it show whether the tool ran. */
const ANSWERED_THERE = 'answered at the terminal; whether it was allowed or denied is not known';

/** Each request is answered by the rules, or opened as a decision that is closed once. */
export class RunRequests {
  readonly #run: RunState;
  readonly #judging = new Set<string>();
  /** Decisions that were open when a person typed at the terminal. */
  readonly #typedAt = new Set<string>();
  readonly #grants: SessionGrants;
  /** What the bridge itself asks, by the decision: called with whether it is allowed. */
  readonly #own = new Map<string, (isAllowed: boolean) => void>();

  constructor(run: RunState) {
    this.#run = run;
    this.#grants = new SessionGrants(run.parts.realPath);
  }

  async asked(request: SessionRequest): Promise<void> {
    const run = this.#run;
    const { driver } = run.parts;
    const { requestId } = request;
    // What is asked while the session is left needs no answer.
    if (!run.isOpen) return;
    this.#judging.add(requestId);
    const { verdict, rule, reason } = await this.#checked(request);
    // Answered at the terminal meanwhile, or the task ended.
    if (!this.#judging.delete(requestId) || !run.isOpen) return;
    // That there is no rule is in the reason itself.
    const why = rule === 'no-rule' ? reason : `${rule}: ${reason}`;
    if (verdict !== 'ask') {
      run.story.closed(run.decisions.record(request, verdict, why));
      run.changed({});
      await driver.answer(requestId, verdict === 'allow' ? { verdict } : { verdict, message: reason });
      return;
    }
    const refusal = run.decisions.refusal(request);
    if (refusal === undefined) {
      run.story.asked(run.decisions.open(request, { why }));
      run.settle(request.source, true);
      return;
    }
    run.story.noticed(refusal);
    await driver.answer(requestId, { verdict: 'deny', message: refusal });
  }

  /** Asks a person for what the bridge is about to do; resolves with whether it is allowed. The caller's yes does not count. */
  askPerson(request: SessionRequest, why: string): Promise<boolean> {
    const { story, decisions } = this.#run;
    const decision = decisions.open(request, { why, isForPerson: true });
    story.asked(decision);
    this.#run.settle(request.source, true);
    return new Promise((resolve) => this.#own.set(decision.decision_id, resolve));
  }

  /** The session moved on without an answer of ours: a person answered at the terminal, or it no longer asks. */
  gone({ requestId, why, by }: Extract<SessionEvent, { type: 'request-gone' }>): void {
    this.#judging.delete(requestId);
    const decisionId = this.#run.decisions.idOfRequest(requestId);
    if (decisionId === undefined) return;
    const byPerson = by === 'terminal' || (why === undefined && this.#typedAt.has(decisionId));
    const wentOn = this.#run.isOpen
      ? 'the session went on without an answer'
      : 'the task ended before an answer';
    this.#close(decisionId, {
      verdict: 'withdrawn',
      by: byPerson ? 'terminal' : 'session',
      reason: why ?? (byPerson ? ANSWERED_THERE : wentOn),
    });
  }

  /** A person types at the terminal: a dialog that goes away from now on was answered there. */
  typed(): void {
    for (const decisionId of this.#run.decisions.openIds) this.#typedAt.add(decisionId);
  }

  /** Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<void> {
    const { decisions, parts, story } = this.#run;
    const { decision_id, verdict, by } = answer;
    if (by === BY_FORM) this.#addLate(answer);
    const request = decisions.requestOf(decision_id);
    if (this.#own.has(decision_id)) return this.#respondToOwn(request, answer);
    const sessionAnswer = sessionAnswerFor(request, answer);
    this.#mustNotAvoidRules(request.tool, sessionAnswer);
    const mode = verdict === 'deny' ? undefined : planModeOf(request, answer.answers)?.rules;
    if (mode !== undefined) this.#requireAllowed(mode);
    // Closed before the driver gets it: a second answer that comes meanwhile loses.
    const reason = answerInWords(answer, sessionAnswer);
    this.#close(decision_id, { verdict, by, reason, edits: editsOf(request, sessionAnswer) });
    if (verdict === 'allow_session') await this.#grants.add(request, decision_id);
    if (mode !== undefined) this.#run.changed({ permission_mode: mode });
    if ((await parts.driver.answer(request.requestId, sessionAnswer)) !== 'gone') return;
    const words = `The session had moved on before the answer to "${request.summary}" arrived`;
    story.tell('answer-too-late', { decision_id }, words);
  }

  #respondToOwn({ summary }: SessionRequest, { decision_id, verdict, by, message }: DecisionAnswer): void {
    if (by === BY_CALLER && verdict !== 'deny')
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `${decision_id} (${summary}) can be allowed by a person alone: in the form of the chat, in a terminal or on the page.`,
        'The decision is still open. A person allows it for good in the settings: "projects" has "checks".',
      );
    this.#close(decision_id, { verdict, by, reason: message ?? null });
  }

  /** A form stays on the screen after its decision was closed: what is sent then is recorded, since no error reaches the person. */
  #addLate({ decision_id, verdict }: DecisionAnswer): void {
    const { phase, decisions, story } = this.#run;
    const late = phase.at === 'ended' ? undefined : decisions.addLate(decision_id, verdict);
    if (late === undefined) return;
    story.noticed(`An answer from the chat came too late for ${decision_id} (${late.summary}): ${verdict}`);
    this.#run.changed({});
  }

  async deadline(decisionId: string): Promise<void> {
    const { driver, spec } = this.#run.parts;
    const { requestId } = this.#run.decisions.requestOf(decisionId);
    const seconds = spec.settings.decision_timeout_seconds;
    const message = `No answer came within ${seconds} seconds, so this was denied. Go on without it, or choose another way.`;
    this.#close(decisionId, { verdict: 'deny', by: 'deadline', reason: message });
    await driver.answer(requestId, { verdict: 'deny', message });
  }

  withdrawAll(why: string): void {
    for (const decisionId of this.#run.decisions.openIds)
      this.#close(decisionId, { verdict: 'withdrawn', by: 'session', reason: why });
  }

  /** What a person allowed for the session is not asked again, whatever rule asks. */
  async #checked(request: SessionRequest): Promise<RuleVerdict> {
    const decided = this.#run.parts.check(request, this.#run.record.permission_mode);
    const decisionId = decided.verdict === 'ask' ? await this.#grants.find(request) : undefined;
    if (decisionId === undefined) return decided;
    const reason = `${decisionId} allowed it for the session`;
    return { verdict: 'allow', rule: 'allowed-for-session', reason };
  }

  /**
   * Claude Code does not hold what an answer makes of an input to the rules that deny (2.1.330): of those only what is mentioned is seen.
   * In a terminal it asks once more where a rule asks about the new input, at a dialog that no hook reports (2.1.330, 2.1.332).
   */
  #mustNotAvoidRules(tool: string, answer: SessionAnswer): void {
    if (answer.verdict === 'deny' || answer.input === undefined) return;
    const { rules, spec } = this.#run.parts;
    const { input } = answer;
    const address = addressOf(tool, input)?.href;
    const text = [commandOf(tool, input), ...pathsOf(tool, input), address].filter(
      (one) => one !== undefined,
    );
    const row = mentionedRule(text.join('\n'), rules, spec.driver === 'print' ? ['deny'] : ['deny', 'ask']);
    if (row === undefined) return;
    const what = row.verdict === 'deny' ? 'denies' : 'asks about';
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The rule ${row.rule} ${what} what this input mentions: ${row.reason}`,
      'The decision is still open: answer it without that, or deny it and say in the message what to do instead.',
    );
  }

  /** The mode that an answer to a plan names must be one of the project's, and never takes a task out of its sandbox. */
  #requireAllowed(mode: 'auto' | 'cautious'): void {
    const { record, parts } = this.#run;
    if (mode === 'auto' && record.permission_mode === 'sandboxed')
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        "The task is in mode sandboxed, and a plan cannot take it into mode 'auto'.",
        'Answer without a mode, or with "acceptEdits" or "cautious".',
      );
    const allowed = parts.spec.allowed_modes;
    if (allowed?.includes(mode) !== false) return;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The mode '${mode}' is not allowed in this project. Allowed: ${allowed.join(', ')}.`,
      'Answer without a mode. Only the user changes that, in the setting allowed_permission_modes.',
    );
  }

  #close(decisionId: string, closing: Closing): void {
    this.#typedAt.delete(decisionId);
    this.#run.story.closed(this.#run.decisions.close(decisionId, closing));
    this.#run.settle('exact', true);
    this.#own.get(decisionId)?.(closing.verdict === 'allow' || closing.verdict === 'allow_session');
    this.#own.delete(decisionId);
  }
}
