import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeNewestClaude } from '../harness/real-claude.js';
import { asks, runs, says } from '../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../harness/start-bridge.js';
import type { TaskStatusView } from '../harness/task-client.js';
import { isFinal } from '../../src/tasks/task.js';

const recordSchema = z.looseObject({
  decisions: z.array(z.looseObject({ verdict: z.string().nullable(), answered_by: z.string().nullable() })),
});

/** Waits as a model does, the longest that a call may take, until the task has ended. */
async function followed(bridge: TestBridge, id: string): Promise<TaskStatusView> {
  let cursor: unknown;
  for (;;) {
    const waited = await bridge.call('wait_for_task', {
      task_ids: [id],
      ...(cursor !== undefined && { cursor }),
    });
    cursor = waited['cursor'];
    const view = await bridge.status(id);
    if (isFinal(view.status)) return view;
  }
}

describeNewestClaude('a person at a client that shows forms', ({ binary }) => {
  describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
    it('allows one command and denies another, and the model is not asked', async () => {
      const shown: string[] = [];
      const bridge = await startBridge({
        claude: binary,
        era,
        script: [runs('echo hi > hello.txt'), runs('touch never.txt'), says('One of two.')],
        person: ({ message, fields }) => {
          shown.push(message);
          expect(fields).toEqual(['verdict', 'message']);
          return message.includes('never')
            ? { verdict: 'deny', message: 'One is enough.' }
            : { verdict: 'allow' };
        },
      });
      const id = await bridge.start({
        prompt: 'Both.',
        path: bridge.project,
        driver: 'print',
        permission_mode: 'cautious',
      });
      expect(await followed(bridge, id)).toMatchObject({ status: 'completed' });
      expect(shown).toHaveLength(2);
      expect(await readFile(join(bridge.project, 'hello.txt'), 'utf8')).toBe('hi\n');
      expect(existsSync(join(bridge.project, 'never.txt'))).toBe(false);
      expect(bridge.api.requests.at(-1)?.toolResults[0]?.text).toContain('One is enough.');
      const record = recordSchema.parse(JSON.parse(await bridge.mcp.readResource(`tasks://${id}`)));
      expect(record.decisions).toMatchObject([
        { verdict: 'allow', answered_by: 'elicitation' },
        { verdict: 'deny', answered_by: 'elicitation' },
      ]);
    });
  });

  it('chooses an option of a question', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [asks('Which one?', ['This', 'That']), says('That it is.')],
      person: () => ({ answer_0: 'That' }),
    });
    const id = await bridge.start({ prompt: 'Choose.', path: bridge.project });
    expect(await followed(bridge, id)).toMatchObject({ status: 'completed', last_output: 'That it is.' });
    expect(bridge.api.requests.at(-1)?.toolResults[0]?.text).toContain('That');
  });

  it('who closes the form leaves the decision to the model', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('echo hi > hello.txt'), says('Done.')],
      person: () => undefined,
    });
    const id = await bridge.start({
      prompt: 'Write.',
      path: bridge.project,
      driver: 'print',
      permission_mode: 'cautious',
    });
    await bridge.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
  });
});
