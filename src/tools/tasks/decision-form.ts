// Pure: a decision as a form for the person at the client, and what was filled in as an answer.
import { oneLine } from '../../base/text.js';
import type { Form, FormField } from '../../mcp/person.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision, TaskRecord } from '../../tasks/task.js';

/** Enough to see what is asked; the whole is in the task's record. */
const SUMMARY_CHARS = 1_000;
const MAX_QUESTIONS = 4;

export function decisionForm(record: TaskRecord, decision: Decision): Form {
  const questions = (decision.questions ?? []).slice(0, MAX_QUESTIONS);
  if (questions.length > 0) {
    return {
      message: `Claude Code asks (task in ${record.project_path})`,
      fields: questions.flatMap(questionFields),
    };
  }
  const what = oneLine(decision.summary, SUMMARY_CHARS);
  return {
    message: `Claude Code asks to go on (task in ${record.project_path}): ${what}`,
    fields: [
      {
        name: 'verdict',
        title: 'Decision',
        isRequired: true,
        choices: [
          { value: 'allow', title: 'Allow once' },
          { value: 'allow_session', title: 'Allow for this session' },
          { value: 'deny', title: 'Deny' },
        ],
      },
      { name: 'message', title: 'With a denial: why, or what to do instead', isRequired: false },
      ...(takesCommand(decision)
        ? [{ name: 'command', title: 'With "Allow once": run this instead', isRequired: false }]
        : []),
      ...(decision.kind === 'plan' ? [PLAN_MODE] : []),
    ],
  };
}

/** Undefined for a form that was sent empty. */
export function decisionAnswerOf(
  decision: Decision,
  values: Readonly<Record<string, string>>,
): DecisionAnswer | undefined {
  const shared = { decision_id: decision.decision_id, by: 'elicitation' };
  if (decision.questions !== undefined && decision.questions.length > 0) {
    const answers = decision.questions.slice(0, MAX_QUESTIONS).flatMap(({ question }, index) => {
      const text = given(values[`other_${index}`]) ?? given(values[`answer_${index}`]);
      return text === undefined ? [] : [[question, text] as const];
    });
    if (answers.length === 0) return undefined;
    return { ...shared, verdict: 'allow', answers: Object.fromEntries(answers) };
  }
  const { verdict } = values;
  if (verdict === 'deny') {
    const message = given(values['message']);
    return { ...shared, verdict, ...(message !== undefined && { message }) };
  }
  if (verdict !== 'allow' && verdict !== 'allow_session') return undefined;
  const command = takesCommand(decision) ? given(values['command']) : undefined;
  const mode = decision.kind === 'plan' ? given(values['mode']) : undefined;
  const answers = { ...(command !== undefined && { command }), ...(mode !== undefined && { mode }) };
  return { ...shared, verdict, ...(Object.keys(answers).length > 0 && { answers }) };
}

const PLAN_MODE: FormField = {
  name: 'mode',
  title: 'With a yes: how to go on',
  isRequired: false,
  choices: [
    { value: 'cautious', title: 'Ask about what no rule allows' },
    { value: 'acceptEdits', title: 'Edit files without asking' },
    { value: 'auto', title: 'Allow all that no rule denies' },
  ],
};

function questionFields(
  { question, header, multiSelect, options }: NonNullable<Decision['questions']>[number],
  index: number,
): FormField[] {
  const choices = options.map(({ label, description }) => ({
    value: label,
    title: description === undefined || description === '' ? label : `${label}: ${description}`,
  }));
  const labels = choices.map(({ value }) => value).join(', ');
  const name = `answer_${index}`;
  return [
    multiSelect
      ? { name, title: header, description: `${question} Any of: ${labels}`, isRequired: false }
      : { name, title: header, description: question, isRequired: false, choices },
    { name: `other_${index}`, title: `${header}: something else`, isRequired: false },
  ];
}

/** A command that the session itself asks about; a dialog on the screen takes no other. */
function takesCommand({ kind, tool, input }: Decision): boolean {
  return kind === 'permission' && tool === 'Bash' && typeof input['command'] === 'string';
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
