// Pure: a decision as a form for the person at the client, and what was filled in as an answer.
import { shownLine, headAndTail, quotedLines } from '../../base/text.js';
import type { Form, FormField } from '../../mcp/person.js';
import { BY_FORM, type DecisionAnswer } from '../../tasks/task-host.js';
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

/**
 * The form for a decision: questions have a field each; anything else has none, so that accept means yes and decline means no.
 * Undefined for a request that cannot be shown whole.
 */
export function decisionForm(record: TaskRecord, decision: Decision): Form | undefined {
  const questions = questionFields(decision, false);
  if (questions !== undefined) {
    return {
      message: `Claude Code asks (task in ${shownLine(record.project_path, SUMMARY_CHARS)})`,
      fields: questions,
    };
  }
  const { headline, request, cut } = described(decision);
  if (cut !== null || request === null) return undefined;
  return {
    message: [
      `Claude Code asks to go on (task in ${shownLine(record.project_path, SUMMARY_CHARS)}): ${shownLine(headline, SUMMARY_CHARS)}`,
      ...(request === '' ? [] : [quotedLines(request)]),
      ...(decision.why === undefined ? [] : [`Why it is asked: ${shownLine(decision.why, WHY_CHARS)}`]),
      HOW_TO_ANSWER,
    ].join('\n'),
    fields: decision.kind === 'plan' ? [PLAN_MODE] : [],
  };
}

/**
 * The form of a client that follows tasks, for one decision of the `count` that are open. A request that it cannot show whole has no yes.
 * Measured with Claude Code 2.1.330: three lines of the message, cut at the width; no words with "Decline".
 */
export function taskForm(record: TaskRecord, decision: Decision, count: number): Form {
  const place = `Task in ${shownLine(record.project_path, LINE_CHARS)}${count > 1 ? `, ${count - 1} more after this` : ''}`;
  const questions = questionFields(decision, true);
  if (questions !== undefined) {
    const [first] = decision.questions ?? [];
    return { message: `${shownLine(first?.question ?? '', LINE_CHARS)}\n${place}`, fields: questions };
  }
  const { lines, choices, cut } = inLines(decision);
  const shown = cut === null ? lines : [shownLine(lines[0] ?? '', LINE_CHARS), TOO_LONG];
  return {
    message: [...shown, place].join('\n'),
    fields: [
      {
        name: 'verdict',
        title: 'Your decision',
        isRequired: true,
        choices: choices.map(({ answer, label }) => ({ value: answer, title: label })),
      },
      WHY,
    ],
  };
}

/** The answer of that form; undefined where it has none, such as a yes that it did not offer. */
export function taskAnswer(
  decision: Decision,
  values: Readonly<Record<string, string>>,
): DecisionAnswer | undefined {
  if (questionFields(decision, true) !== undefined) return decisionAnswerOf(decision, values);
  const { verdict, why } = values;
  const chosen = inLines(decision).choices.find(({ answer }) => answer === verdict);
  if (chosen === undefined) return undefined;
  return {
    decision_id: decision.decision_id,
    by: BY_FORM,
    verdict: chosen.answer,
    ...(chosen.answer === 'deny' &&
      why !== undefined &&
      why !== '' && { message: headAndTail(why, MAX_WHY_CHARS) }),
  };
}

/** The decision in lines, which offers a yes only where those that the form shows are the whole request. */
function inLines(decision: Decision) {
  const { headline, request } = described(decision);
  const head = shownLine(headline);
  const lines = request === null || request === '' ? [head] : `${head}: ${request}`.split('\n');
  const isShown =
    lines.length <= LINES && lines.every((line) => line.length <= LINE_CHARS && PLAIN.test(line));
  return { lines, ...described(decision, isShown && request !== null) };
}

/** A choice and a free text for each question; undefined where the decision has none. `hasLists`: the client shows choices of several. */
export function questionFields(decision: Decision, hasLists: boolean): FormField[] | undefined {
  const questions = (decision.questions ?? []).slice(0, MAX_QUESTIONS);
  if (questions.length === 0) return undefined;
  return questions.flatMap((asked, index) => fieldsOf(asked, index, hasLists));
}

/** The answer of a form that was sent; undefined for questions that were all left empty. */
export function decisionAnswerOf(
  decision: Decision,
  values: Readonly<Record<string, string>>,
): DecisionAnswer | undefined {
  const shared = { decision_id: decision.decision_id, by: BY_FORM, verdict: 'allow' } as const;
  if (decision.questions !== undefined && decision.questions.length > 0) {
    const answers = decision.questions.slice(0, MAX_QUESTIONS).flatMap((question, index) => {
      const [answer, other] = fieldNames(question, index);
      const chosen = given(values[answer]);
      const text = given(values[other]) ?? (chosen === undefined ? undefined : asAsked(chosen, question));
      return text === undefined ? [] : [[question.question, text] as const];
    });
    return answers.length === 0 ? undefined : { ...shared, answers: Object.fromEntries(answers) };
  }
  const mode = decision.kind === 'plan' ? given(values['mode']) : undefined;
  return { ...shared, ...(mode !== undefined && { answers: { mode } }) };
}

/** The denial of a form that was declined. */
export function declined(decision: Decision): DecisionAnswer {
  return {
    decision_id: decision.decision_id,
    by: BY_FORM,
    verdict: 'deny',
    message: 'A person was asked, and declined this.',
  };
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

/** Some clients (Goose) show these instead of the titles, in the order of the alphabet: words for a person, and unique. */
function fieldNames({ header }: Pick<Question, 'header'>, index: number): readonly [string, string] {
  const words = shownLine(header, HEADER_CHARS).replaceAll(/[^\p{L}\p{N}]+/gu, '_');
  const name = `${index + 1}_${words}`;
  return [name, `${name}_something_else`];
}

type Question = NonNullable<Decision['questions']>[number];

/** Each text of the agent is one line, without invisible characters. */
function fieldsOf(asked: Question, index: number, hasLists: boolean): FormField[] {
  const { question, header, multiSelect, options } = asked;
  const choices = options.map(({ label, description }) => ({
    value: shownLine(label),
    title: shownLine(description === undefined || description === '' ? label : `${label}: ${description}`),
  }));
  const labels = choices.map(({ value }) => value).join(', ');
  const [name, other] = fieldNames(asked, index);
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
