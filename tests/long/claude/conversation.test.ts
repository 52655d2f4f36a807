import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeNewestClaude('a conversation', ({ binary }) => {
  it('answers beside a task that holds the project', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: ({ userText }) => (userText.includes('quick') ? says('Quick answer.') : thinksForEver),
      env: { MCP_TOOLSETS: 'all' },
    });
    const task = await bridge.start({ prompt: 'Long work.' });
    const asked = { prompt: 'quick', workingDirectory: bridge.project };
    expect(await bridge.call('ask', asked)).toMatchObject({ text: 'Quick answer.' });
    await bridge.call('kill_task', { task_id: task });
  });
});
