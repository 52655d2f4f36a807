import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { personalClaude } from '../../harness/native-plugin.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const listedSchema = z.object({
  tasks: z.array(z.looseObject({ task_id: z.string(), prompt_summary: z.string() })),
});

describeRealClaude('a session that a person started', ({ binary }) => {
  test('is seen once its servers are connected, and answered, in every pinned version', async () => {
    const bridge = await startBridge({
      claude: binary,
      env: { MCP_TOOLSETS: 'tasks,native' },
      script: ({ kind, userText, toolResults }) => {
        if (kind !== 'turn') return says('{"title":"A session"}');
        if (toolResults.length > 0) return says('It is done.');
        if (userText.includes('bake a pie')) return runs('touch made');
        return userText.includes('paint a pie') ? asks('Which colour?', ['Red', 'Blue']) : says('Hello.');
      },
    });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const terminal = await claude.open();
    const sessions = async () =>
      listedSchema.parse(await bridge.call('list_tasks', { status: 'active' })).tasks;
    // 2.1.197 does not wait for its servers: hooks before that are lost.
    let times = 0;
    await expect
      .poll(
        async () => {
          await terminal.prompt(`hello ${++times}`);
          await terminal.sees('Hello.');
          return (await sessions())[0]?.prompt_summary;
        },
        { interval: 1_000 },
      )
      .toMatch(/^hello/);
    const id = (await sessions())[0]?.task_id ?? '';
    await terminal.prompt('bake a pie');
    await bridge.answerNext(id, { verdict: 'allow' });
    await terminal.sees('It is done.');
    expect(existsSync(join(bridge.project, 'made'))).toBe(true);
    await bridge.until(id, ({ reason }) => reason.includes('waits for a message'));
    await terminal.prompt('paint a pie');
    await bridge.answerNext(id, { verdict: 'allow', answers: { 'Which colour?': 'Blue' } });
    await bridge.until(id, ({ reason }) => reason.includes('waits for a message'));
    await terminal.leave();
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
  });
});
