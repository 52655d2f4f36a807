import { mentionedRule } from '../../approvals/mentions.js';
import { addressOf, commandOf, pathsOf } from '../../approvals/tool-table.js';
import { BridgeError } from '../../base/errors.js';
import type { SessionAnswer, SessionEvent, SessionRequest } from '../../claude/session.js';
import type { Closing } from '../decisions/decision-book.js';
import { answerInWords, editsOf, planModeOf, sessionAnswerFor } from '../decisions/session-answer.js';
import { SessionGrants } from '../decisions/session-grants.js';
import { BY_FORM, type DecisionAnswer } from '../task-host.js';
import type { RunCore } from './run-state.js';
import type { RuleVerdict } from './task-run-parts.js';

/** Neither the hooks nor the screen report what the person chose; the events after it show whether the tool ran. */
const ANSWERED_THERE = 'answered at the terminal; whether it was allowed or denied is not known';

/** What a session asks: answered by the rules, or opened as a decision that is closed once. */
export class RunRequests {
  readonly #parts: RunCore;
  readonly #judging = new Set<string>();
  /** Decisions that were open when a person typed at the terminal. */
  readonly #typedAt = new Set<string>();
  readonly #grants: SessionGrants;
  /** Requests that were denied because too much is open, since one was opened last. */
  #turnedAway = 0;

  constructor(parts: RunCore) {
    this.#parts = parts;
    this.#grants = new SessionGrants(parts.realPath);
  }

  async asked(request: SessionRequest): Promise<void> {
    const { phase, state, story, decisions, driver } = this.#parts;
    // What is asked while the session is left needs no answer.
    if (!phase.isOpen) return;
    this.#judging.add(request.requestId);
    const decided = await this.#checked(request);
    // Answered at the terminal meanwhile, or the task ended.
    if (!this.#judging.delete(request.requestId) || !phase.isOpen) return;
    if (decided.verdict === 'ask') {
      const refusal = decisions.refusal(request);
      if (refusal !== undefined) {
        this.#turnAway(refusal);
        await driver.answer(request.requestId, { verdict: 'deny', message: refusal });
        return;
      }
      this.#tellTurnedAway();
      story.asked(decisions.open(request, { why: wordsOf(decided) }));
      state.settle(request.source, 'asked');
      return;
    }
    const verdict = decided.verdict;
    story.closed(decisions.record(request, verdict, wordsOf(decided)));
    state.changed({});
    await driver.answer(
      request.requestId,
      verdict === 'allow' ? { verdict } : { verdict, message: decided.reason },
    );
  }

  /** The session moved on without an answer of ours: a person answered at the terminal, or it no longer asks. */
  gone({ requestId, why, by }: Omit<Extract<SessionEvent, { type: 'request-gone' }>, 'type'>): void {
    this.#judging.delete(requestId);
    const decisionId = this.#parts.decisions.idOfRequest(requestId);
    if (decisionId === undefined) return;
    const byPerson = by === 'terminal' || (why === undefined && this.#typedAt.has(decisionId));
    const wentOn = this.#parts.phase.isOpen
      ? 'the session went on without an answer'
      : 'the task ended before an answer';
    const words = byPerson ? ANSWERED_THERE : wentOn;
    this.#close(decisionId, {
      verdict: 'withdrawn',
      by: byPerson ? 'terminal' : 'session',
      reason: why ?? words,
    });
  }

  /** A person types at the terminal: a dialog that goes away from now on was answered there. */
  typed(): void {
    for (const decisionId of this.#parts.decisions.openIds) this.#typedAt.add(decisionId);
  }

  /** Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<void> {
    const { decisions, driver, story, state } = this.#parts;
    if (answer.by === BY_FORM) this.#addLate(answer);
    const request = decisions.requestOf(answer.decision_id);
    const sessionAnswer = sessionAnswerFor(request, answer);
    this.#mustNotAvoidRules(request.tool, sessionAnswer);
    const rules = answer.verdict === 'deny' ? undefined : planModeOf(request, answer.answers)?.rules;
    if (rules === 'auto' && state.record.permission_mode === 'sandboxed') throw staysSandboxed();
    const { allowed_modes: allowed } = this.#parts.spec;
    if (rules !== undefined && allowed?.includes(rules) === false) throw notAllowed(rules, allowed);
    // Closed before the driver gets it: a second answer that comes meanwhile loses.
    this.#close(answer.decision_id, {
      verdict: answer.verdict,
      by: answer.by,
      reason: answerInWords(answer, sessionAnswer),
      edits: editsOf(request, sessionAnswer),
    });
    if (answer.verdict === 'allow_session') await this.#grants.add(request, answer.decision_id);
    if (rules !== undefined) state.changed({ permission_mode: rules });
    if ((await driver.answer(request.requestId, sessionAnswer)) === 'gone') {
      story.answeredTooLate(answer.decision_id, request.summary);
    }
  }

  /** A form stays on the screen after its decision was closed: what is sent then is recorded, since no error reaches the person. */
  #addLate({ decision_id, verdict }: DecisionAnswer): void {
    const { decisions, story, state } = this.#parts;
    const late = decisions.addLate(decision_id, verdict);
    if (late === undefined) return;
    story.noticed(`An answer from the chat came too late for ${decision_id} (${late.summary}): ${verdict}`);
    state.changed({});
  }

  async deadline(decisionId: string): Promise<void> {
    const { decisions, driver, spec } = this.#parts;
    const request = decisions.requestOf(decisionId);
    const seconds = spec.settings.decision_timeout_seconds;
    const message = `No answer came within ${seconds} seconds, so this was denied. Go on without it, or choose another way.`;
    this.#close(decisionId, { verdict: 'deny', by: 'deadline', reason: message });
    await driver.answer(request.requestId, { verdict: 'deny', message });
  }

  withdrawAll(why: string): void {
    this.#tellTurnedAway();
    for (const decisionId of this.#parts.decisions.openIds)
      this.#close(decisionId, { verdict: 'withdrawn', by: 'session', reason: why });
  }

  /** A burst is reported twice: when it begins, and how many requests it had. */
  #turnAway(refusal: string): void {
    this.#turnedAway++;
    if (this.#turnedAway === 1) this.#parts.story.noticed(refusal);
  }

  #tellTurnedAway(): void {
    if (this.#turnedAway > 1)
      this.#parts.story.noticed(`${this.#turnedAway} requests were denied without asking`);
    this.#turnedAway = 0;
  }

  /** What a person allowed for the session is not asked again, whatever rule asks. */
  async #checked(request: SessionRequest): Promise<RuleVerdict> {
    const { check, state } = this.#parts;
    const decided = check(request, state.record.permission_mode);
    const decisionId = decided.verdict === 'ask' ? await this.#grants.find(request) : undefined;
    if (decisionId === undefined) return decided;
    return {
      verdict: 'allow',
      rule: 'allowed-for-session',
      reason: `${decisionId} allowed it for the session`,
    };
  }

  /**
   * Claude Code does not hold what an answer makes of an input to the rules that deny (2.1.330): of those only what is mentioned is seen.
   * In a terminal it asks once more where a rule asks about the new input, at a dialog that no hook reports (2.1.330, 2.1.332).
   */
  #mustNotAvoidRules(tool: string, answer: SessionAnswer): void {
    if (answer.verdict === 'deny' || answer.input === undefined) return;
    const { rules, spec } = this.#parts;
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

  #close(decisionId: string, closing: Closing): void {
    const { story, decisions, state } = this.#parts;
    this.#typedAt.delete(decisionId);
    story.closed(decisions.close(decisionId, closing));
    state.settle('exact', 'closed');
  }
}

function staysSandboxed(): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    "The task is in mode sandboxed, and a plan cannot take it into mode 'auto'.",
    'Answer without a mode, or with "acceptEdits" or "cautious".',
  );
}

function notAllowed(mode: string, allowed: readonly string[]): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The mode '${mode}' is not allowed in this project. Allowed: ${allowed.join(', ')}.`,
    'Answer without a mode. Only the user changes that, in the setting allowed_permission_modes.',
  );
}

/** The name of the rule and why it decides so; that there is no rule is in the reason itself. */
function wordsOf({ rule, reason }: RuleVerdict): string {
  return rule === 'no-rule' ? reason : `${rule}: ${reason}`;
}
