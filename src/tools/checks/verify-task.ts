import { z } from 'zod';
import { alarms, checksView, metWords, testVerdictSchema } from '../../checks/result.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import type { Person } from '../../mcp/person.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { isFinal } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { taskOutput, taskView } from '../tasks/task-fields.js';

const WAIT_MS = 40_000;
/** For the outputs of checks that are not met. */
const OUTPUT_BYTES = 4_000;
/** Names the form of a question, behind the task. */
const FORM = '.verify';
const HOW_TO_ALLOW =
  'A person has to allow these checks: in a form, where this client shows one, or in a terminal: tasks verify';

export const verifyTask = defineTool({
  name: 'verify_task',
  title: 'Verify a task',
  effect: 'destroy',
  searchHint: 'run the checks of a delegated task in a clean copy; tests red before and green after',
  description:
    'Run the checks of a finished task in a clean copy; its new tests must fail on the old code and pass on the new.',
  input: { task_id: z.string() },
  output: {
    checks: z.record(z.string(), z.unknown()).optional(),
    tests: z.array(testVerdictSchema),
    tests_changed: z.string().optional(),
    outside_brief: z.array(z.string()).optional(),
    linked: z.array(z.string()),
    task_id: taskOutput.task_id,
    status: taskOutput.status,
    decisions: z.array(z.unknown()),
    message: z.string(),
  },
  handle: async ({ taskId: task_id }, services, { person }) => {
    const tasks = await services.tasks();
    const record = await tasks.get(knownTaskId(task_id));
    const nothing = { tests: [], linked: [], ...taskView(record) };
    if (!isFinal(record.status))
      return {
        ...nothing,
        message: `The task has not ended: there is nothing to verify yet. ${pollingHint(record)}`,
      };
    const verifications = await services.verifications();
    const question = await verifications.question(record);
    const said = question === undefined ? undefined : await ask(person, `${task_id}${FORM}`, question);
    if (said === 'later') return { ...nothing, message: HOW_TO_ALLOW };
    const found = await verifications.verify(record, WAIT_MS, said === 'answered');
    if (found === undefined)
      return { ...nothing, message: 'The checks still run. Call verify_task again for what they find.' };
    const { results, tests, notes, outside_brief, linked, ...rest } = found;
    const words = [
      `${metWords(found)}.`,
      ...alarms(tests),
      ...notes,
      ...(question !== undefined && said !== 'answered' ? [`${HOW_TO_ALLOW} ${task_id}.`] : []),
    ];
    return {
      checks: checksView({ results: [...results], rounds: 0 }, OUTPUT_BYTES),
      tests: [...tests],
      ...rest,
      ...(outside_brief !== undefined && { outside_brief: [...outside_brief] }),
      linked: [...linked],
      ...taskView(record),
      message: words.join(' '),
    };
  },
});

/** Asks the person at the client; to accept the form is a yes. */
async function ask(person: Person | undefined, key: string, message: string): Promise<string | undefined> {
  const late = { limitMs: 0, onAnswer: () => undefined };
  return (await person?.ask(key, { message, fields: [] }, WAIT_MS, late))?.kind;
}
