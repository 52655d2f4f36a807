import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { ReadStream } from 'node:tty';
import { sleep } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { systemClock } from '../base/system-clock.js';
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

/** How often it is checked whether somebody else has answered. */
const CHECK_MS = 500;
const BELL = '\x07';
const SHOWN_CHARS = 40;
const QUESTION_WORDS = 'Type a number or your own words, then Enter; "deny" declines.';
const SEVERAL_WORDS = 'Type a number, several such as 1,2, or your own words, then Enter; "deny" declines.';

export interface TerminalQuestionsOptions {
  readonly tasks: Pick<TaskService, 'get' | 'respond'>;
  readonly input: NodeJS.ReadStream;
  /** A line for the person. */
  readonly say: (line: string) => void;
  /** How the lines are shown. */
  readonly look: Look;
  readonly command: string;
  /** Whether the bell of the terminal rings before a question. */
  readonly bell: boolean;
}

/** Asks the person at the terminal what a task asks. Without a terminal it says how to answer. */
export class TerminalQuestions implements Disposable {
  readonly #options: TerminalQuestionsOptions;
  readonly #asked = new Set<string>();
  /** Undefined without a terminal. */
  readonly #lines: Interface | undefined;
  /** Aborted when no line follows. */
  readonly #over = new AbortController();

  constructor(options: TerminalQuestionsOptions) {
    this.#options = options;
    // The prompt may have been typed there, up to the end of the input.
    if (!(options.input instanceof ReadStream) || options.input.readableEnded) return;
    // Read from the beginning: a line typed before a question was shown is no answer to it.
    this.#lines = createInterface({ input: options.input, terminal: false });
    this.#lines.on('close', () => this.#over.abort());
  }

  /** Resolves when each open decision was asked once, and answered by somebody or left to others. */
  async ask(record: TaskRecord, signal: AbortSignal): Promise<void> {
    const { say, look, bell, tasks, command } = this.#options;
    for (const decision of openDecisions(record)) {
      if (signal.aborted || this.#asked.has(decision.decision_id)) continue;
      this.#asked.add(decision.decision_id);
      say(bell && this.#lines !== undefined && !this.#over.signal.aborted ? BELL : '');
      for (const line of decisionLines(decision, look)) say(line);
      const closed = new AbortController();
      const either = AbortSignal.any([signal, closed.signal]);
      // A task that cannot be read is left to others.
      const watching = this.#untilClosed(record.task_id, decision, either)
        .catch(() => undefined)
        .then(() => closed.abort());
      const answer = await this.#typed(decision, either);
      const isOpen = !closed.signal.aborted;
      closed.abort();
      await watching;
      if (answer !== undefined) await this.#respond(tasks, record.task_id, answer);
      else if (signal.aborted) return;
      else if (!isOpen) say('It is no longer open: somebody else answered, or its time was over.');
      else {
        for (const line of answerLines(decision, answerCommand(record, command))) say(line);
      }
    }
  }

  dispose(): void {
    this.#lines?.close();
  }

  /** Undefined when there is no terminal, or the signal aborts. */
  async #typed(decision: Decision, signal: AbortSignal): Promise<DecisionAnswer | undefined> {
    const { questions = [], decision_id } = decision;
    if (questions.length === 0)
      return this.#until(requestWords(decision), (line) => typedVerdict(decision, line), signal);
    const answers: [string, string][] = [];
    const shared = { decision_id, by: 'terminal' };
    for (const question of questions) {
      const about = questions.length === 1 ? '' : `${answers.length + 1}: `;
      const words = question.multiSelect ? SEVERAL_WORDS : QUESTION_WORDS;
      const read = (line: string) => (line.trim() === 'deny' ? false : typedChoice(question, line));
      const answer = await this.#until(`${about}${words}`, read, signal, question.options.length);
      if (answer === undefined) return undefined;
      if (answer === false) return { ...shared, verdict: 'deny' };
      answers.push([question.question, answer]);
    }
    return { ...shared, verdict: 'allow', answers: Object.fromEntries(answers) };
  }

  /** Asks until a line is an answer; undefined when none follows. `count`: of the options of a question. */
  async #until<T>(
    words: string,
    read: (line: string) => T | undefined,
    signal: AbortSignal,
    count?: number,
  ): Promise<T | undefined> {
    const { say, look } = this.#options;
    const lines = this.#lines;
    const stop = AbortSignal.any([signal, this.#over.signal]);
    for (let wrong = ''; lines !== undefined && !stop.aborted;) {
      say(fitted(`${wrong}${words}`, look));
      const line = await once(lines, 'line', { signal: stop }).then(String, () => undefined);
      if (line === undefined) return undefined;
      const answer = read(line);
      if (answer !== undefined) return answer;
      wrong = notUnderstood(line, count);
    }
    return undefined;
  }

  async #untilClosed(taskId: string, { decision_id }: Decision, signal: AbortSignal): Promise<void> {
    const { tasks } = this.#options;
    while (!signal.aborted) {
      const open = openDecisions(await tasks.get(taskId));
      if (!open.some((one) => one.decision_id === decision_id)) return;
      await sleep(systemClock, CHECK_MS, signal);
    }
  }

  async #respond(
    tasks: TerminalQuestionsOptions['tasks'],
    taskId: string,
    answer: DecisionAnswer,
  ): Promise<void> {
    try {
      await tasks.respond(taskId, answer);
    } catch (error) {
      // Somebody else was first, the task has ended, or the answer does not fit; a decision that is still open is asked again.
      if (!(error instanceof BridgeError)) throw error;
      this.#options.say(error.message);
      if (error.code === 'INVALID_ARGUMENTS') this.#asked.delete(answer.decision_id);
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
