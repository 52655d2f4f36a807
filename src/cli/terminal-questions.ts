import { createInterface, type Interface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { BridgeError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { oneLine } from '../base/text.js';
import type { DecisionAnswer } from '../tasks/task-host.js';
import type { TaskService } from '../tasks/task-service.js';
import { openDecisions, type Decision, type TaskRecord } from '../tasks/task.js';
import {
  answerCommand,
  answerLines,
  decisionLines,
  requestWords,
  typedChoice,
  typedVerdict,
} from './decisions.js';
import { fitted, type Look } from './terminal-text.js';

const BELL = '\x07';
const SHOWN_CHARS = 40;
const QUESTION_WORDS = 'Type a number or your own words, then Enter; "deny" declines.';
const SEVERAL_WORDS = 'Type a number, several such as 1,2, or your own words, then Enter; "deny" declines.';

export interface TerminalQuestionsOptions {
  readonly tasks: Pick<TaskService, 'respond'>;
  /** Where a person may type; left out, it is only said how to answer. */
  readonly input?: NodeJS.ReadStream;
  /** A line for the person. */
  readonly say: (line: string) => void;
  /** How the lines are shown. */
  readonly look: Look;
  readonly command: string;
  /** Whether the bell of the terminal rings before a question. */
  readonly bell?: boolean;
}

/** Asks the person at the terminal what a task asks. Without a terminal it says how to answer. */
export class TerminalQuestions implements Disposable {
  readonly #options: TerminalQuestionsOptions;
  readonly #shown = new Set<string>();
  /** Undefined without a terminal, and once no line follows. */
  #lines: Interface | undefined;
  /** What waits for a line, and what was answered of its questions so far. */
  #asked: { readonly decision: Decision; readonly answers: [string, string][] } | undefined;
  /** The first line since something was asked. One that was typed before is no answer to it. */
  #typed: string | undefined;

  constructor(options: TerminalQuestionsOptions) {
    this.#options = options;
    const { input } = options;
    // The prompt may have been typed there, up to the end of the input.
    if (!(input instanceof ReadStream) || input.readableEnded) return;
    this.#lines = createInterface({ input, terminal: false });
    this.#lines.on('line', (line) => this.#asked !== undefined && (this.#typed ??= line));
    this.#lines.on('close', () => (this.#lines = undefined));
  }

  /** Takes what was typed, and shows what is asked now. Resolves with true while it waits for a line. Throws errors that are bugs. */
  async update(record: TaskRecord): Promise<boolean> {
    const { say, look, bell = false, command } = this.#options;
    const open = openDecisions(record);
    const asked = this.#asked?.decision;
    const ways = (decision: Decision): void => {
      for (const line of answerLines(decision, answerCommand(record, command))) say(line);
    };
    if (asked !== undefined && !open.some(({ decision_id }) => decision_id === asked.decision_id)) {
      this.#asked = undefined;
      say('It is no longer open: somebody else answered, or its time was over.');
    } else if (asked !== undefined && this.#typed !== undefined)
      await this.#take(record.task_id, this.#typed);
    else if (asked !== undefined && this.#lines === undefined) {
      this.#asked = undefined;
      ways(asked);
    }
    this.#typed = undefined;
    for (const decision of open) {
      if (this.#asked !== undefined) return true;
      if (this.#shown.has(decision.decision_id)) continue;
      this.#shown.add(decision.decision_id);
      say(bell && this.#lines !== undefined ? look.own(BELL) : '');
      for (const line of decisionLines(decision, look)) say(line);
      if (this.#lines === undefined) ways(decision);
      else this.#ask(decision, []);
    }
    return this.#asked !== undefined;
  }

  dispose(): void {
    this.#lines?.close();
  }

  /** `wrong`: what was wrong with the line before. */
  #ask(decision: Decision, answers: [string, string][], wrong = ''): void {
    const { say, look } = this.#options;
    this.#asked = { decision, answers };
    const { questions = [] } = decision;
    const question = questions[answers.length];
    const about = questions.length > 1 ? `${answers.length + 1}: ` : '';
    const words = question?.multiSelect === true ? SEVERAL_WORDS : QUESTION_WORDS;
    say(fitted(`${wrong}${question === undefined ? requestWords(decision) : about + words}`, look));
  }

  async #take(taskId: string, line: string): Promise<void> {
    if (this.#asked === undefined) return;
    const { decision, answers } = this.#asked;
    const shared = { decision_id: decision.decision_id, by: 'terminal' };
    const { questions = [] } = decision;
    const question = questions[answers.length];
    if (question === undefined) {
      const answer = typedVerdict(decision, line);
      return answer === undefined
        ? this.#ask(decision, answers, notUnderstood(line))
        : this.#respond(taskId, answer);
    }
    if (line.trim() === 'deny') return this.#respond(taskId, { ...shared, verdict: 'deny' });
    const label = typedChoice(question, line);
    if (label === undefined)
      return this.#ask(decision, answers, notUnderstood(line, question.options.length));
    const all: [string, string][] = [...answers, [question.question, label]];
    if (all.length < questions.length) return this.#ask(decision, all);
    return this.#respond(taskId, { ...shared, verdict: 'allow', answers: Object.fromEntries(all) });
  }

  async #respond(taskId: string, answer: DecisionAnswer): Promise<void> {
    this.#asked = undefined;
    try {
      await this.#options.tasks.respond(taskId, answer);
    } catch (error) {
      // Somebody else was first, the task has ended, or the answer does not fit; a decision that is still open is asked again.
      if (!(error instanceof BridgeError)) throw error;
      this.#options.say(error.message);
      const isOpen = error.code === 'INVALID_ARGUMENTS' || error.code === 'MACHINE_UNREACHABLE';
      if (isOpen) this.#shown.delete(answer.decision_id);
    }
  }
}

/** What is wrong with a line; `count`: of the options of the question that it answers. */
function notUnderstood(line: string, count?: number): string {
  const given = oneLine(line.trim(), SHOWN_CHARS);
  if (given === '') return '';
  if (count === undefined) return `'${given}' was not understood. `;
  if (!/^\d/.test(given))
    return `'${given}' alone is no answer to a question: type a number from 1 to ${count}, or more words of your own. `;
  return `There is no option ${given}: the numbers are 1 to ${count}. A number alone is no answer in your own words; write it with a word. `;
}
