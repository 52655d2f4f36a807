// Pure: a decision as a form for the person at the client, and what was filled in as an answer.
import { shownLine } from '../../base/text/shown-line.js';
import { quotedLines } from '../../base/text/text.js';
import type { Form, FormField } from '../../mcp/person.js';
import { BY_FORM, type DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision, TaskRecord } from '../../tasks/task.js';
import { headline, wholeRequest } from '../../tasks/decisions/whole-request.js';

const SUMMARY_CHARS = 1_000;
const WHY_CHARS = 300;
const MAX_QUESTIONS = 4;
const HEADER_CHARS = 40;
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
  const asked = wholeRequest(decision);
  if (asked === undefined) return undefined;
  return {
    message: [
      `Claude Code asks to go on (task in ${shownLine(record.project_path, SUMMARY_CHARS)}): ${shownLine(headline(decision), SUMMARY_CHARS)}`,
      ...(asked === '' ? [] : [quotedLines(asked)]),
      ...(decision.why === undefined ? [] : [`Why it is asked: ${shownLine(decision.why, WHY_CHARS)}`]),
      HOW_TO_ANSWER,
    ].join('\n'),
    fields: decision.kind === 'plan' ? [PLAN_MODE] : [],
  };
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
