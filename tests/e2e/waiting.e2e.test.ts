import { expect, it } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge } from '../harness/start-bridge.js';

it.each(['modern', 'legacy', 'foreign'] as const)(
  'a caller that waits is told of progress, and of the end when it comes (%s client)',
  async (era) => {
    const bridge = await startBridge({ claude: scriptedAgent, era, projects: ['one', 'two'] });
    const [one = '', two = ''] = bridge.projects;
    const slow = await bridge.start({ prompt: 'AGENT: sleeps 6', path: one });
    const slower = await bridge.start({ prompt: 'AGENT: never-exits', path: two });
    const progress: string[] = [];
    const result = await bridge.mcp.callTool(
      'wait_for_task',
      { task_ids: [slow, slower], timeout_seconds: 45 },
      (message) => progress.push(message),
    );
    expect(result.structuredContent).toMatchObject({
      tasks: [
        { task_id: slow, status: 'completed', changed: true },
        { task_id: slower, status: 'running', changed: false },
      ],
    });
    expect(progress[0]).toContain(`${slow}: running`);
    await bridge.call('kill_task', { task_id: slower });
  },
);

it('a wait that nobody needs any more, or that is over, is answered as things stand', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  expect(await bridge.call('wait_for_task', { task_ids: [id], timeout_seconds: 1 })).toMatchObject({
    tasks: [{ task_id: id, status: 'running', changed: false }],
  });
  await bridge.call('kill_task', { task_id: id });
});
