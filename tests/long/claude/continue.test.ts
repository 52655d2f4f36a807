import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest } from '../../../src/cli/demo/messages-api.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const answerSchema = z.looseObject({ responseId: z.string() });
const recordSchema = z.looseObject({ session_id: z.string() });

/** Answers with the newest word of the prompt, so that a test sees what was asked. */
const echo = ({ userText }: ScriptedRequest) => says(`You said: ${userText.trim().split('\n').at(-1) ?? ''}`);

describeNewestClaude('a task that continues', ({ binary }) => {
  it('a task knows what was said there, and leaves it as it was', async () => {
    const bridge = await startBridge({ claude: binary, script: echo });
    const path = bridge.project;
    const sessionOf = async (id: string) =>
      recordSchema.parse(JSON.parse(await bridge.mcp.readResource(`tasks://${id}`))).session_id;
    const first = await bridge.start({ prompt: 'one', path });
    expect(await bridge.end(first)).toMatchObject({ status: 'completed' });
    const second = await bridge.start({ prompt: 'two', path, continue_from: first });
    expect(await bridge.end(second)).toMatchObject({ status: 'completed', last_output: 'You said: two' });
    // From the first again: what the second added is not there.
    const other = await bridge.start({ prompt: 'other', path, continue_from: first });
    expect(await bridge.end(other)).toMatchObject({ status: 'completed', last_output: 'You said: other' });
    const [one = 0, two = 0, branch = 0] = bridge.api.requests
      .filter(({ kind }) => kind === 'turn')
      .map(({ messageCount }) => messageCount);
    expect([two - one, branch]).toEqual([2, two]);
    expect(new Set([await sessionOf(first), await sessionOf(second), await sessionOf(other)]).size).toBe(3);
  });

  it('a response knows what was asked; another directory is refused', async () => {
    const bridge = await startBridge({ claude: binary, script: echo, env: { MCP_TOOLSETS: 'all' } });
    const path = bridge.project;
    const { responseId } = answerSchema.parse(
      await bridge.call('ask', { prompt: 'one', workingDirectory: path }),
    );
    const inside = join(path, 'inside');
    await mkdir(inside);
    const refusal = await bridge.refusal('start_task', {
      prompt: 'x',
      path: inside,
      continue_from: responseId,
    });
    expect(refusal).toContain(`${responseId} worked in ${path}, and path is ${inside}`);
    const task = await bridge.start({ prompt: 'two', path, continue_from: responseId });
    expect(await bridge.end(task)).toMatchObject({ status: 'completed', last_output: 'You said: two' });
    const [one = 0, two = 0] = bridge.api.requests
      .filter(({ kind }) => kind === 'turn')
      .map(({ messageCount }) => messageCount);
    // The question, its answer, and the new prompt; a terminal's session adds notes of its own.
    expect(two).toBeGreaterThanOrEqual(one + 2);
  });
});
