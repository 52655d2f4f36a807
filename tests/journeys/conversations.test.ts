// The specification of conversations: "MCP Tools Architecture", "Conversation Continuity", "Environment Variables".
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest } from '../../src/cli/demo/messages-api.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { says, thinksForEver } from '../harness/scripted-turns.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';

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
    projects: ['app', 'other'],
    env: { MCP_TOOLSETS: 'conversation,tasks,project' },
  });
  const ask = async (args: Readonly<Record<string, unknown>>) =>
    answerSchema.parse(await bridge().call('ask', args));
  const inApp = (prompt: string) => ({ prompt, workingDirectory: bridge().project });

  let first: z.infer<typeof answerSchema>;

  beforeAll(async () => {
    first = await ask(inApp('one'));
  });

  test('ask gives the text of the answer and its response id', () => {
    expect(first.text).toBe('You said: one');
    expect(first.responseId).not.toBe('');
  });

  test('each answer has a response id of its own, and a conversation goes on from any of them', async () => {
    // Without workingDirectory each goes on in that of the answer before.
    const second = await ask({ prompt: 'two', previousResponseId: first.responseId });
    const branch = await ask({ prompt: 'other', previousResponseId: first.responseId });
    expect(branch.text).toBe('You said: other');
    expect(new Set([first, second, branch].map(({ responseId }) => responseId)).size).toBe(3);
    // A question and an answer more than the first; the branch knows nothing of the second.
    const [one = 0, two = 0, other = 0] = bridge()
      .api.requests.filter(({ kind }) => kind === 'turn')
      .map(({ messageCount }) => messageCount);
    expect([two, other]).toEqual([one + 2, one + 2]);
  });

  test('ask_async answers at once with the id of a task; ask_status has its answer', async () => {
    const started = pendingSchema.parse(await bridge().call('ask_async', inApp('later')));
    expect(['pending', 'starting', 'running']).toContain(started.status);
    const answer = await bridge().call('ask_status', { taskId: started.taskId, waitSeconds: WAIT_SECONDS });
    expect(answer).toMatchObject({ taskId: started.taskId, status: 'completed', text: 'You said: later' });
  });

  test('ask_status of a question that is being answered says so and what it does', async () => {
    const { taskId } = pendingSchema.parse(await bridge().call('ask_async', inApp('think')));
    const status = await bridge().call('ask_status', { taskId });
    expect(status).toMatchObject({ taskId, status: 'running' });
    expect(status).toHaveProperty('activity');
    await bridge().call('ask_cancel', { taskId });
  });

  test('ask_cancel ends a question that runs, and its status is cancelled', async () => {
    const { taskId } = pendingSchema.parse(await bridge().call('ask_async', inApp('think')));
    expect(await bridge().call('ask_cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
    expect(await bridge().call('ask_status', { taskId })).toMatchObject({ status: 'cancelled' });
    expect(await bridge().refusal('ask_cancel', { taskId })).toMatch(/^TASK_NOT_RUNNING: /);
  });

  test('a conversation belongs to its working directory: another one is refused, and both are named', async () => {
    const [app = '', other = ''] = bridge().projects;
    const refusal = await bridge().refusal('ask', {
      prompt: 'two',
      previousResponseId: first.responseId,
      workingDirectory: other,
    });
    expect(refusal).toContain(app);
    expect(refusal).toContain(other);
  });

  test('an error has the words and the exit code of Claude Code', async () => {
    const refusal = await bridge().refusal('ask', inApp('fail'));
    expect(refusal).toMatch(/^ASK_FAILED: .*exit code 1/s);
    expect(refusal).toContain('No such word here');
  });

  test('MCP_CLAUDE_DEBUG=true has the server log each call on stderr', async () => {
    const client = await bridge().another('modern', { env: { MCP_CLAUDE_DEBUG: 'true' } });
    await client.call('ask_status');
    await expect.poll(() => client.mcp.log()).toMatch(/\[DEBUG\] .*ask_status/);
  });

  test('CLAUDE_CLI_NAME is the program', async () => {
    const client = await bridge().another('modern', {
      command: ['env', '-u', 'MCP_CLAUDE_COMMAND', process.execPath, serverEntry],
      env: { CLAUDE_CLI_NAME: binary },
    });
    expect(JSON.parse(await client.mcp.readResource('config://current'))).toMatchObject({
      claude_command: binary,
    });
  });

  test('Claude Code is found in ~/.claude/local where PATH has none', async () => {
    const folder = join(bridge().workplace.homeDir, '.claude', 'local');
    await mkdir(folder, { recursive: true });
    await symlink(binary, join(folder, 'claude'));
    const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
    const client = await bridge().another('modern', {
      command: ['env', '-u', 'MCP_CLAUDE_COMMAND', `PATH=${path}`, process.execPath, serverEntry],
    });
    expect(await client.call('ask', inApp('found'))).toMatchObject({ text: 'You said: found' });
  });
});
