import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';

/** Each call is a turn of the caller's model, and each byte is read by it. */
const MAX_CALLS = 10;
const MAX_BYTES = 7_168;

const startedSchema = z.looseObject({ task_id: z.string(), cursor: z.string() });
const answeredSchema = z.looseObject({ cursor: z.string() });
const waitedSchema = z.looseObject({
  cursor: z.string(),
  tasks: z
    .array(
      z.looseObject({ status: z.string(), decisions: z.array(z.looseObject({ decision_id: z.string() })) }),
    )
    .length(1),
});

describeNewestClaude('a caller that follows the hints', ({ binary }) => {
  it('needs few calls for a delegation with three questions, and none reports what the caller did itself', async () => {
    const bridge = await startBridge({
      claude: binary,
      trusted: false,
      script: [runs('node test.js || ls'), runs('node test.js; echo done'), says('Both tests pass now.')],
    });
    const names: string[] = [];
    let bytes = 0;
    const call = async (name: string, args: Record<string, unknown>): Promise<unknown> => {
      const answer = await bridge.call(name, args);
      names.push(name);
      bytes += Buffer.byteLength(JSON.stringify(answer));
      return answer;
    };
    const { task_id, ...started } = startedSchema.parse(
      await call('start_task', {
        path: bridge.project,
        prompt: 'Fix the bug.',
        permission_mode: 'cautious',
      }),
    );
    let { cursor } = started;
    for (let status = 'running'; status !== 'completed' && names.length < MAX_CALLS;) {
      const waited = waitedSchema.parse(await call('wait_for_task', { task_ids: [task_id], cursor }));
      cursor = waited.cursor;
      const [task] = waited.tasks;
      status = task?.status ?? '';
      for (const { decision_id } of task?.decisions ?? []) {
        const answer = await call('respond_to_task', { task_id, decision_id, verdict: 'allow' });
        cursor = answeredSchema.parse(answer).cursor;
      }
    }
    await call('get_task_result', { task_id });
    expect(names).toEqual([
      'start_task',
      ...['wait_for_task', 'respond_to_task', 'wait_for_task', 'respond_to_task'],
      ...['wait_for_task', 'respond_to_task', 'wait_for_task', 'get_task_result'],
    ]);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });
});
