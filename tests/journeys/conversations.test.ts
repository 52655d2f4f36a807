// The specification of conversations: "MCP Tools Architecture", "Conversation Continuity", "Environment Variables".
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest } from '../../src/cli/demo/scripted-api.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { says, thinksForEver } from '../harness/scripted-turns.js';
import { sharedBridge } from '../harness/start-bridge.js';

const answerSchema = z.looseObject({ text: z.string(), responseId: z.string(), taskId: z.string() });
const pendingSchema = z.looseObject({ taskId: z.string(), status: z.string() });
const WAIT_SECONDS = 45;

/** The model says what it was asked last; it thinks for ever, or fails, when it is asked to. */
function model({ userText }: ScriptedRequest) {
  const asked = userText.trim().split('\n').at(-1) ?? '';
  if (asked === 'think') return thinksForEver;
  if (asked === 'fail')
    return {
      error: { status: 400, type: 'invalid_request_error', message: 'No such word here' },
    };
  return says(`You said: ${asked}`);
}

describeNewestClaude('conversations', ({ binary }) => {
  const bridge = sharedBridge({
    claude: binary,
    script: model,
    env: { MCP_TOOLSETS: 'conversation,tasks,project' },
  });
  const ask = async (args: Readonly<Record<string, unknown>>) =>
    answerSchema.parse(await bridge().call('ask', args));

  test('ask gives the text of the answer and an id of its own, and a conversation goes on from any answer, also when the server of that one is gone', async () => {
    const workingDirectory = await bridge().newProject('asked');
    const turns = () => bridge().api.requests.filter(({ kind }) => kind === 'turn');
    const before = turns().length;
    const server = await bridge().another('legacy');
    const first = answerSchema.parse(await server.call('ask', { prompt: 'one', workingDirectory }));
    await server.mcp.close();
    expect(first.text).toBe('You said: one');
    // Without workingDirectory each goes on in that of the answer before.
    const second = await ask({ prompt: 'two', previousResponseId: first.responseId });
    const branch = await ask({ prompt: 'other', previousResponseId: first.responseId });
    expect(branch.text).toBe('You said: other');
    expect(new Set([first, second, branch].map(({ responseId }) => responseId)).size).toBe(3);
    // A question and an answer more than the first; the branch knows nothing of the second.
    const [one = 0, two = 0, other = 0] = turns()
      .slice(before)
      .map(({ messageCount }) => messageCount);
    expect([two, other]).toEqual([one + 2, one + 2]);
    expect(await bridge().call('ask_status')).toMatchObject({
      questions: [{ prompt: 'other' }, { prompt: 'two' }, { responseId: first.responseId }],
    });
    // A question is no task, and leaves nothing in the project.
    expect(await bridge().call('list_tasks')).toMatchObject({ tasks: [] });
    expect(existsSync(join(workingDirectory, '.claude'))).toBe(false);
  });

  test('ask_async answers at once with the id of a task, beside one that holds the project; ask_status says what it does, or its answer; ask_cancel ends it', async () => {
    const workingDirectory = await bridge().newProject('asked-async');
    const task_id = await bridge().start({ path: workingDirectory, prompt: 'think' });
    const start = async (prompt: string) =>
      pendingSchema.parse(await bridge().call('ask_async', { prompt, workingDirectory }));
    const answered = await start('later');
    expect(['pending', 'starting', 'running']).toContain(answered.status);
    const { taskId } = answered;
    const answer = await bridge().call('ask_status', { taskId, waitSeconds: WAIT_SECONDS });
    expect(answer).toMatchObject({ taskId, status: 'completed', text: 'You said: later' });
    const thinking = { taskId: (await start('think')).taskId };
    const status = await bridge().call('ask_status', thinking);
    expect(status).toMatchObject({ ...thinking, status: 'running' });
    expect(status).toHaveProperty('activity');
    expect(await bridge().call('ask_cancel', thinking)).toMatchObject({ ...thinking, status: 'cancelled' });
    expect(await bridge().call('ask_status', thinking)).toMatchObject({ status: 'cancelled' });
    expect(await bridge().refusal('ask_cancel', thinking)).toMatch(
      /^TASK_NOT_RUNNING: .* is cancelled already/,
    );
    expect(await bridge().call('kill_task', { task_id })).toMatchObject({ status: 'killed' });
  });

  test('an error has the words and the exit code of Claude Code; a conversation belongs to its folder, and another is refused by both names', async () => {
    const workingDirectory = await bridge().newProject('asked-wrong');
    const failed = await bridge().refusal('ask', { prompt: 'fail', workingDirectory });
    expect(failed).toMatch(/^ASK_FAILED: .*exit code 1/s);
    expect(failed).toContain('No such word here');
    const { responseId } = await ask({ prompt: 'one', workingDirectory });
    const other = await bridge().newProject('other');
    const refusal = await bridge().refusal('ask', {
      prompt: 'two',
      previousResponseId: responseId,
      workingDirectory: other,
    });
    expect(refusal).toContain(workingDirectory);
    expect(refusal).toContain(other);
  });
});
