import { expect, it } from 'vitest';
import { discoveryOf, endsWithTest } from '../../harness/board-process.js';
import { OLDER_VERSION, olderBuild } from '../../harness/older-build.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import { VERSION } from '../../../src/base/package.js';

it('a newer server goes on with the tasks, records and board of an older one', async () => {
  const workplace = await createWorkplace();
  const older = await olderBuild(workplace.root);
  const bridge = await startBridge({ claude: scriptedAgent, workplace, command: [process.execPath, older] });
  const running = await bridge.start({ prompt: 'AGENT: never-exits' });
  await bridge.call('open_board', {});
  endsWithTest(bridge);
  const before = await discoveryOf(bridge);
  expect(before.version).toBe(OLDER_VERSION);

  const newer = await bridge.another('modern', { command: [process.execPath, serverEntry] });
  await bridge.mcp.close();
  expect(await newer.call('list_tasks')).toMatchObject({ tasks: [{ task_id: running, status: 'running' }] });
  expect(await newer.output(running, 'screen')).toMatchObject({ text: 'working' });
  const board = await newer.call('open_board', {});
  expect(board).toMatchObject({ tasks: [{ task_id: running }] });
  const after = await discoveryOf(bridge);
  expect(after).toMatchObject({ version: VERSION, port: before.port });
  expect(after.board_id).not.toBe(before.board_id);
  expect(await newer.call('kill_task', { task_id: running })).toMatchObject({ status: 'killed' });
  expect(await newer.call('get_task_result', { task_id: running })).toMatchObject({ status: 'killed' });
});

it('an older server leaves a newer board as it is, and reads the records of a newer one', async () => {
  const workplace = await createWorkplace();
  const older = await olderBuild(workplace.root);
  const bridge = await startBridge({ claude: scriptedAgent, workplace });
  const id = await bridge.start({ prompt: 'AGENT: never-exits' });
  await bridge.call('open_board', {});
  endsWithTest(bridge);
  const before = await discoveryOf(bridge);
  const other = await bridge.another('modern', { command: [process.execPath, older] });
  await other.call('open_board', {});
  expect(await discoveryOf(bridge)).toEqual(before);
  expect(await other.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
});
