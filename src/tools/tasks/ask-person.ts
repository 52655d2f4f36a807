import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { Form, FormField, Person } from '../../mcp/person.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { TaskService } from '../../tasks/task-service.js';
import { openDecisions, type Decision, type TaskRecord } from '../../tasks/task.js';

/** Enough to see what is asked; the whole is in the task's record. */
const SUMMARY_CHARS = 1_000;
const MAX_QUESTIONS = 4;

/**
 * Asks the person at the client about the first open decision, and passes the answer on. `answered`: some route has
 * answered it. `later`: the call comes again. `unanswered`: the caller is told of the decision as always.
 */
export async function askPerson(
  record: TaskRecord,
  tasks: Pick<TaskService, 'respond'>,
  person: Person | undefined,
  timeoutMs: number,
): Promise<'answered' | 'later' | 'unanswered'> {
  const [decision] = openDecisions(record);
  if (decision === undefined || person === undefined) return 'unanswered';
  const key = `${record.task_id}.${decision.decision_id}`;
  const said = await person.ask(key, formOf(record, decision), timeoutMs);
  if (said.kind !== 'answered') return said.kind;
  const answer = answerOf(decision, said.values);
  if (answer === undefined) return 'unanswered';
  try {
    await tasks.respond(record.task_id, answer);
  } catch (thrown) {
    // Another route was first, or the task has ended: the next look tells which.
    if (!isTooLate(thrown)) throw thrown;
  }
  return 'answered';
}

function formOf(record: TaskRecord, decision: Decision): Form {
  const what = oneLine(decision.summary, SUMMARY_CHARS);
  const questions = (decision.questions ?? []).slice(0, MAX_QUESTIONS);
  if (questions.length > 0) {
    return {
      message: `Claude Code asks (task in ${record.project_path})`,
      fields: questions.flatMap((question, index): FormField[] => {
        const choices = question.options.map(({ label, description }) => ({
          value: label,
          title: description === undefined || description === '' ? label : `${label}: ${description}`,
        }));
        const words = { title: question.header, description: question.question };
        const labels = choices.map(({ value }) => value).join(', ');
        return [
          question.multiSelect
            ? {
                name: `answer_${index}`,
                title: question.header,
                description: `${question.question} Any of: ${labels}`,
                isRequired: false,
              }
            : { name: `answer_${index}`, ...words, isRequired: false, choices },
          { name: `other_${index}`, title: `${question.header}: something else`, isRequired: false },
        ];
      }),
    };
  }
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
    ],
  };
}

/** Undefined for a form that was sent empty. */
function answerOf(decision: Decision, values: Readonly<Record<string, string>>): DecisionAnswer | undefined {
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
  const message = given(values['message']);
  if (verdict !== 'allow' && verdict !== 'allow_session' && verdict !== 'deny') return undefined;
  return { ...shared, verdict, ...(message !== undefined && { message }) };
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

function isTooLate(thrown: unknown): boolean {
  return (
    thrown instanceof BridgeError &&
    ['DECISION_CLOSED', 'DECISION_NOT_FOUND', 'TASK_NOT_RUNNING'].includes(thrown.code)
  );
}
