import { z } from 'zod';
import { metWords, notesOf, shownRun, testVerdictSchema } from '../../checks/result.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import type { PersonAnswer } from '../../mcp/person.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { isFinal } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { taskOutput, taskView } from '../tasks/task-fields.js';

const WAIT_MS = 40_000;
/** For the outputs of checks that are not met. */
const OUTPUT_CHARS = 4_000;
/** Names the form of a question, behind the task. */
const FORM = '.verify';
const NO_LATE = { limitMs: 0, onAnswer: () => undefined };
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
    let answer: PersonAnswer['kind'] | undefined;
    const ask = async (message: string): Promise<boolean | undefined> => {
      // To accept the form is a yes.
      answer = (await person?.ask(`${task_id}${FORM}`, { message, fields: [] }, WAIT_MS, NO_LATE))?.kind;
      answer ??= 'unanswered';
      return answer === 'later' ? undefined : answer === 'answered';
    };
    const found = await (await services.verifications()).verify(record, ask, WAIT_MS);
    if (found === undefined)
      return { ...nothing, message: 'The checks still run. Call verify_task again for what they find.' };
    const { tests, notes, tests_changed, outside_brief, linked = [], ...run } = found;
    const isHeld = answer !== undefined && answer !== 'answered';
    const words = [`${metWords(run)}.`, ...notesOf({ ...run, tests, notes })];
    return {
      ...{ checks: shownRun(run, OUTPUT_CHARS), tests, tests_changed, outside_brief, linked },
      ...taskView(record),
      message: [...words, ...(isHeld ? [`${HOW_TO_ALLOW} ${task_id}.`] : [])].join(' '),
    };
  },
});
