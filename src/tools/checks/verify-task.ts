import { z } from 'zod';
import { alarms, checksView, metWords, testVerdictSchema } from '../../checks/result.js';
import { knownTaskId } from '../../mcp/known-task-id.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { isFinal } from '../../tasks/task.js';
import { defineTool } from '../define-tool.js';
import { taskOutput, taskView } from '../tasks/task-fields.js';

const WAIT_MS = 40_000;
/** For the outputs of checks that are not met. */
const OUTPUT_BYTES = 4_000;

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
  handle: async ({ task_id }, services) => {
    const tasks = await services.tasks();
    const record = await tasks.get(knownTaskId(task_id));
    const nothing = { tests: [], linked: [], ...taskView(record) };
    if (!isFinal(record.status))
      return {
        ...nothing,
        message: `The task has not ended: there is nothing to verify yet. ${pollingHint(record)}`,
      };
    const found = await (await services.verifications()).verify(record, WAIT_MS);
    if (found === undefined)
      return { ...nothing, message: 'The checks still run. Call verify_task again for what they find.' };
    const { results, tests, notes, ...rest } = found;
    return {
      checks: checksView({ results, rounds: 0 }, OUTPUT_BYTES),
      tests,
      ...rest,
      ...taskView(record),
      message: [`${metWords({ results, rounds: 0 })}.`, ...alarms(tests), ...notes].join(' '),
    };
  },
});
