// Pure: a decision as a form for the person at the client, and what was filled in as an answer.
import { BridgeError } from '../../base/errors.js';
import { farIdOf } from '../../base/ids.js';
import { shownLine, headAndTail, quotedLines } from '../../base/text.js';
import type { Form, FormField, PersonAnswer } from '../../mcp/person.js';
import { BY_FORM, type DecisionAnswer } from '../../tasks/task-host.js';
import type { TaskService } from '../../tasks/task-service.js';
import type { Decision, TaskRecord } from '../../tasks/task.js';
import { described } from '../../tasks/decisions/described.js';

const SUMMARY_CHARS = 1_000;
const WHY_CHARS = 300;
const MAX_QUESTIONS = 4;
const HEADER_CHARS = 40;
/** One column for each character, and no gap behind which something could stand. */
const PLAIN = /^(?!.* {3})[ -~]*$/;
/** What a person sees of a message without more keys. */
const LINES = 2;
/** A terminal of 80 columns shows so many of a line (2.1.332). */
const LINE_CHARS = 70;
/** More than a person writes. A line in the middle of a longer text says what is left out. */
const MAX_WHY_CHARS = 20_000;
const TOO_LONG = 'Too long to decide here: open the page (open_board), or say no.';
const HOW_TO_ANSWER =
  'Accept allows it once, decline denies it. To allow it for the session, or to deny it with a reason, close this and say so in the chat.';
const TOO_LATE: ReadonlySet<string> = new Set(['DECISION_CLOSED', 'DECISION_NOT_FOUND', 'TASK_NOT_RUNNING']);
const DECLINED = 'A person was asked, and declined this.';

type Filled = Extract<PersonAnswer, { kind: 'answered' }>;
type Given = Pick<DecisionAnswer, 'verdict' | 'message' | 'answers'>;

/** A form for a decision. */
export interface DecisionForm extends Form {
  /** Undefined where what was filled in is no answer, such as a yes that the form did not offer. */
  readonly read: (filled: Filled) => Given | undefined;
}

/** The answer that a person gave with the form; to decline is to deny. Undefined where there is none. */
export function answerIn(
  { read }: DecisionForm,
  { decision_id }: Decision,
  said: PersonAnswer,
): DecisionAnswer | undefined {
  const declined = said.kind === 'declined' ? ({ verdict: 'deny', message: DECLINED } as const) : undefined;
  const given = said.kind === 'answered' ? read(said) : declined;
  return given && { decision_id, by: BY_FORM, ...given };
}

/**
 * Passes the answer of a form on. `late`: another route was first, or the task has ended. Undefined for no answer, and for one that does
 * not fit, such as a command that a rule denies: the decision is still open.
 */
export async function passOn(
  taskId: string,
  answer: DecisionAnswer | undefined,
  tasks: Pick<TaskService, 'respond'>,
): Promise<TaskRecord | 'late' | undefined> {
  try {
    return answer && (await tasks.respond(taskId, answer));
  } catch (thrown) {
    if (!(thrown instanceof BridgeError)) throw thrown;
    if (thrown.code === 'INVALID_ARGUMENTS') return undefined;
    if (TOO_LATE.has(thrown.code)) return 'late';
    throw thrown;
  }
}

/**
 * The form for a decision: questions have a field each; anything else has none, so that accept means yes and decline means no.
 * Undefined for a request that cannot be shown whole.
 */
export function decisionForm(record: TaskRecord, decision: Decision): DecisionForm | undefined {
  const place = `(task ${placeOf(record, SUMMARY_CHARS)})`;
  const { headline, request, cut } = described(decision);
  const asked = questionForm(decision, false, `Claude Code asks ${place}`);
  if (asked !== undefined || cut !== null || request === null) return asked;
  const isPlan = decision.kind === 'plan';
  return {
    message: [
      `Claude Code asks to go on ${place}: ${shownLine(headline, SUMMARY_CHARS)}`,
      ...(request === '' ? [] : [quotedLines(request)]),
      ...(decision.why === undefined ? [] : [`Why it is asked: ${shownLine(decision.why, WHY_CHARS)}`]),
      HOW_TO_ANSWER,
    ].join('\n'),
    fields: isPlan ? [PLAN_MODE] : [],
    read: ({ values }) => {
      const mode = isPlan ? given(values['mode']) : undefined;
      return { verdict: 'allow', ...(mode !== undefined && { answers: { mode } }) };
    },
  };
}

/**
 * The form of a client that follows tasks, for one decision of the `count` that are open. A request that it cannot show whole has no yes.
 * Measured with Claude Code 2.1.330: three lines of the message, cut at the width; no words with "Decline".
 */
export function taskForm(record: TaskRecord, decision: Decision, count = 1): DecisionForm {
  const place = `Task ${placeOf(record, LINE_CHARS)}${count > 1 ? `, ${count - 1} more after this` : ''}`;
  const [first] = decision.questions ?? [];
  const asked = questionForm(decision, true, `${shownLine(first?.question ?? '', LINE_CHARS)}\n${place}`);
  if (asked !== undefined) return asked;
  const { headline, request } = described(decision);
  const head = shownLine(headline);
  const lines = request === null || request === '' ? [head] : `${head}: ${request}`.split('\n');
  const isShown =
    lines.length <= LINES && lines.every((line) => line.length <= LINE_CHARS && PLAIN.test(line));
  // A yes is offered only where the lines that the form shows are the whole request.
  const { choices, cut } = described(decision, isShown && request !== null);
  const shown = cut === null ? lines : [shownLine(lines[0] ?? '', LINE_CHARS), TOO_LONG];
  const verdicts = choices.map(({ answer, label }) => ({ value: answer, title: label }));
  return {
    message: [...shown, place].join('\n'),
    fields: [{ name: 'verdict', title: 'Your decision', isRequired: true, choices: verdicts }, WHY],
    read: ({ values, lists = [] }) => {
      // A list is no verdict.
      const chosen =
        lists.length > 0 ? undefined : choices.find(({ answer }) => answer === values['verdict']);
      const why = chosen?.answer === 'deny' ? (values['why'] ?? '') : '';
      return (
        chosen && { verdict: chosen.answer, ...(why !== '' && { message: headAndTail(why, MAX_WHY_CHARS) }) }
      );
    },
  };
}

/** Where the answer counts. */
function placeOf({ task_id, project_path }: TaskRecord, maxChars: number): string {
  const far = farIdOf(task_id);
  return `${far === undefined ? '' : `on ${far.machine} `}in ${shownLine(project_path, maxChars)}`;
}

const WHY: FormField = { name: 'why', title: 'Why, or what to do instead', isRequired: false };

const PLAN_MODE: FormField = {
  name: 'mode',
  title: 'How to go on',
  isRequired: false,
  choices: [
    { value: 'cautious', title: 'Ask about what no rule allows' },
    { value: 'acceptEdits', title: 'Edit files without asking' },
    { value: 'auto', title: 'Allow everything that no rule denies' },
  ],
};

/** A choice and a free text for each question; undefined where the decision has none. `hasLists`: the client shows choices of several. */
function questionForm(decision: Decision, hasLists: boolean, message: string): DecisionForm | undefined {
  const questions = (decision.questions ?? []).slice(0, MAX_QUESTIONS);
  if (questions.length === 0) return undefined;
  const asked = questions.map((question, index) => ({ question, names: fieldNames(question, index) }));
  return {
    message,
    fields: asked.flatMap(({ question, names }) => fieldsOf(question, names, hasLists)),
    read: ({ values }) => {
      const answers = asked.flatMap(({ question, names: [answer, other] }) => {
        const chosen = given(values[answer]);
        const text = given(values[other]) ?? (chosen === undefined ? undefined : asAsked(chosen, question));
        return text === undefined ? [] : [[question.question, text] as const];
      });
      return answers.length === 0 ? undefined : { verdict: 'allow', answers: Object.fromEntries(answers) };
    },
  };
}

type Question = NonNullable<Decision['questions']>[number];
type FieldNames = readonly [string, string];

/** Some clients (Goose) show these instead of the titles, in the order of the alphabet: words for a person, and unique. */
function fieldNames({ header }: Question, index: number): FieldNames {
  const words = shownLine(header, HEADER_CHARS).replaceAll(/[^\p{L}\p{N}]+/gu, '_');
  const name = `${index + 1}_${words}`;
  return [name, `${name}_something_else`];
}

/** Each text of the agent is one line, without invisible characters. */
function fieldsOf(asked: Question, [name, other]: FieldNames, hasLists: boolean): FormField[] {
  const { question, header, multiSelect, options } = asked;
  const choices = options.map(({ label, description }) => ({
    value: shownLine(label),
    title: shownLine(description === undefined || description === '' ? label : `${label}: ${description}`),
  }));
  const labels = choices.map(({ value }) => value).join(', ');
  const title = shownLine(header);
  const description = shownLine(question);
  return [
    multiSelect && !hasLists
      ? { name, title, description: `${description} Any of: ${labels}`, isRequired: false }
      : { name, title, description, isRequired: false, choices, ...(multiSelect && { isMultiple: true }) },
    { name: other, title: `${title}: something else`, isRequired: false },
  ];
}

/** What was chosen, with the labels as the session knows them. */
function asAsked(chosen: string, { multiSelect, options }: Question): string {
  const labels = options.map(({ label }) => ({ label, shown: shownLine(label) }));
  const whole = labels.find(({ shown }) => shown === chosen);
  if (whole !== undefined) return whole.label;
  if (!multiSelect) return chosen;
  return labels
    .filter(({ label, shown }) => label !== shown)
    .reduce((rest, { label, shown }) => rest.replaceAll(shown, () => label), chosen);
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
