import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest } from '../../../src/cli/demo/scripted-api.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const toolsets = { MCP_TOOLSETS: 'all' };
const answerSchema = z.looseObject({ text: z.string(), responseId: z.string(), taskId: z.string() });

/** Answers with the newest word of the question, so that a test sees what was asked. */
const echo = ({ userText }: ScriptedRequest) => says(`You said: ${userText.trim().split('\n').at(-1) ?? ''}`);

describeNewestClaude('a conversation', ({ binary }) => {
  it('answers beside a task that holds the project', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: ({ userText }) => (userText.includes('quick') ? says('Quick answer.') : thinksForEver),
      env: toolsets,
    });
    const task = await bridge.start({ prompt: 'Long work.' });
    const { text } = answerSchema.parse(
      await bridge.call('ask', { prompt: 'quick', workingDirectory: bridge.project }),
    );
    expect(text).toBe('Quick answer.');
    await bridge.call('kill_task', { task_id: task });
  });

  it('is refused with the words of Claude Code when its session is gone', async () => {
    const bridge = await startBridge({ claude: binary, script: echo, env: toolsets });
    const first = answerSchema.parse(
      await bridge.call('ask', { prompt: 'one', workingDirectory: bridge.project }),
    );
    // Answered before it has been left, and the CLI writes until then.
    await bridge.end(first.taskId);
    await rm(join(bridge.workplace.homeDir, '.claude', 'projects'), { recursive: true });
    const refusal = await bridge.refusal('ask', { prompt: 'two', previousResponseId: first.responseId });
    expect(refusal).toContain('ASK_FAILED');
    expect(refusal).toContain('exit code 1');
    expect(refusal).toContain('No conversation found with session ID');
  });
});
