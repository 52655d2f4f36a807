import { expect, it } from 'vitest';
import { z } from 'zod';
import { SUBSCRIBER, limitReached } from '../../harness/limit-answers.js';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';

/** The bridge goes on two minutes after a reset; the interactive CLI tells it in whole minutes. */
const MARGIN_MS = 120_000;
/** Long enough to do something to a task that waits, when the time is told to the second. */
const LONGER_WAIT_MS = 7_000;
const HOUR_MS = 3_600_000;
/** Of each scripted answer, both ways. */
const SCRIPTED_TOKENS = 10;
const receiptSchema = z.looseObject({ notes: z.array(z.string()), usage: z.looseObject({}) });
const resuming = { withKey: false, env: { ...SUBSCRIBER.env, MCP_RESUME_AFTER_LIMIT: 'true' } };

describeNewestClaude('trouble with the API', ({ binary }) => {
  it.each(drivers)('a usage limit fails the task (%s) and says until when', async (driver) => {
    const resetsAtMs = Date.now() + 2 * HOUR_MS;
    const bridge = await startBridge({ claude: binary, ...SUBSCRIBER, script: [limitReached(resetsAtMs)] });
    const id = await bridge.start({ driver });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'usage-limit' } });
    const reset = new Date(resetsAtMs).toISOString();
    expect(end.reason).toContain(`until ${reset.slice(0, 10)} ${reset.slice(11, 16)} UTC`);
    expect(end.reason).toContain('Another task can go on from it after the reset');
    expect(end.hint).toContain('continue_from');
    expect(bridge.api.turnsServed).toBe(1);
  });

  it('a task that waits outlives its server and Claude Code itself', async () => {
    const turns = [
      () => runs('echo before > before.txt'),
      // Counted from when it is reached, however long the start took.
      () => limitReached(Date.now() - MARGIN_MS + LONGER_WAIT_MS),
      () => says('All of it.'),
    ];
    const script = () => (turns.shift() ?? (() => says('No more.')))();
    const bridge = await startBridge({ claude: binary, ...resuming, script });
    const id = await bridge.start({ driver: 'print' });
    const waiting = await bridge.until(id, (view) => view.status === 'waiting');
    expect(waiting).toMatchObject({ trouble: { kind: 'usage-limit' } });
    expect(waiting.reason).toContain('continues automatically');
    const before = await bridge.record(id);
    await bridge.mcp.close();
    process.kill(before.agent?.pid ?? Number.NaN, 'SIGKILL');
    const later = await bridge.another();
    expect(await later.end(id)).toMatchObject({ status: 'completed', last_output: 'All of it.' });
    const after = await bridge.record(id);
    expect(after.agent?.pid).not.toBe(before.agent?.pid);
    expect(after.session_id).not.toBe(before.session_id);
    // Each program counts what it used itself: the first had one answer of the model, the second another.
    expect((await receiptOf(later, id)).usage).toMatchObject({
      source: 'result',
      models: [{ input: 2 * SCRIPTED_TOKENS, output: 2 * SCRIPTED_TOKENS }],
    });
    expect(bridge.api.requests.at(-1)?.messageCount).toBeGreaterThan(3);
  });

  it('a conversation that is full fails the task and says what to do', async () => {
    const error = {
      status: 400,
      type: 'invalid_request_error',
      message: 'prompt is too long: 208310 tokens > 200000 maximum',
    };
    const bridge = await startBridge({ claude: binary, script: [{ error, repeat: 20 }] });
    const id = await bridge.start({ driver: 'print' });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'context-full' } });
    expect(end.reason).toContain('Start a new session');
  });
});

async function receiptOf(client: TaskClient, taskId: string): Promise<z.infer<typeof receiptSchema>> {
  return z
    .looseObject({ receipt: receiptSchema })
    .parse(await client.call('get_task_result', { task_id: taskId })).receipt;
}
