import { expect, it } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge } from '../harness/start-bridge.js';

it('callers that wait, in any client, are told of progress, and of the end when it comes', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, projects: ['one', 'two'] });
  const clients = {
    modern: bridge,
    legacy: await bridge.another('legacy'),
    foreign: await bridge.another('foreign'),
  };
  const [one = '', two = ''] = bridge.projects;
  const slow = await bridge.start({ prompt: 'AGENT: sleeps 6', path: one });
  const slower = await bridge.start({ prompt: 'AGENT: never-exits', path: two });
  const waits = Object.entries(clients).map(async ([era, { mcp }]) => {
    const progress: string[] = [];
    const result = await mcp.callTool(
      'wait_for_task',
      { task_ids: [slow, slower], timeout_seconds: 45 },
      (message) => progress.push(message),
    );
    expect(result.structuredContent, era).toMatchObject({
      tasks: [
        { task_id: slow, status: 'completed', changed: true },
        { task_id: slower, status: 'running', changed: false },
      ],
    });
    expect(progress[0], era).toContain(`${slow}: running`);
  });
  await Promise.all(waits);
  await bridge.call('kill_task', { task_id: slower });
});

it('a wait that nobody needs any more, or that is over, is answered as things stand', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  expect(await bridge.call('wait_for_task', { task_ids: [id], timeout_seconds: 1 })).toMatchObject({
    tasks: [{ task_id: id, status: 'running', changed: false }],
  });
  await bridge.call('kill_task', { task_id: id });
});
