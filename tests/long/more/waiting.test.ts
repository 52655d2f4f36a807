import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

it('callers that wait, in either era, get progress, and the end when it comes', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, projects: ['one', 'two'] });
  const clients = { modern: bridge, legacy: await bridge.another('legacy') };
  const [one = '', two = ''] = bridge.projects;
  const ended = await bridge.start({ prompt: 'AGENT: never-exits', path: one });
  const other = await bridge.start({ prompt: 'AGENT: never-exits', path: two });
  const progress = new EventEmitter();
  const waits = Object.entries(clients).map(([era, { mcp }]) =>
    mcp.callTool('wait_for_task', { task_ids: [ended, other], timeout_seconds: 45 }, (message) =>
      progress.emit(era, message),
    ),
  );
  const told = await Promise.all(Object.keys(clients).map((era) => once(progress, era)));
  for (const [message] of told) expect(message).toContain(`${ended}: running`);
  await bridge.call('kill_task', { task_id: ended });
  for (const result of await Promise.all(waits))
    expect(result.structuredContent).toMatchObject({
      tasks: [
        { task_id: ended, status: 'killed', changed: true },
        { task_id: other, status: 'running', changed: false },
      ],
    });
  await bridge.call('kill_task', { task_id: other });
});

it('a wait that nobody needs any more, or that is over, is answered as things stand', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits' });
  // Who starts a task is told that it runs a moment before its record says so.
  await bridge.until(id, ({ status }) => status === 'running');
  expect(await bridge.call('wait_for_task', { task_ids: [id], timeout_seconds: 1 })).toMatchObject({
    tasks: [{ task_id: id, status: 'running', changed: false }],
  });
  await bridge.call('kill_task', { task_id: id });
});
