import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTaskId } from '../../../src/base/ids.js';
import { attach } from '../../harness/attached-terminal.js';
import { startOldKeeper } from '../../harness/old-keeper.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

it('a client is answered before any record is looked at', async () => {
  const workplace = await createWorkplace();
  const task_id = createTaskId();
  const folder = join(workplace.stateDir, 'tasks', task_id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Who looks at this one puts it aside.
  await writeFile(join(folder, 'record.json'), 'no record');
  const bridge = await startBridge({ claude: scriptedAgent, workplace });
  expect(await bridge.mcp.listTools()).toContain('list_tasks');
  expect(await readdir(folder)).toEqual(['record.json']);
  expect(await bridge.call('list_tasks')).toMatchObject({ unreadable: [{ task_id }] });
  expect(await readdir(folder)).toEqual(['record.json']);
});

it('a task whose keeper is of an older version is listed, read, followed and killed', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const { task_id } = await startOldKeeper(bridge.workplace, bridge.project);
  expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [{ task_id, status: 'running' }] });
  expect(await bridge.status(task_id)).toMatchObject({ status: 'running' });
  expect(await bridge.output(task_id, 'log')).toMatchObject({ text: 'It works.\n' });
  expect(await bridge.output(task_id, 'screen')).toMatchObject({ text: 'an old screen' });
  const person = await attach(bridge, { args: [task_id] });
  await person.sees('was started by an older version of the bridge, which does not support attach');
  await person.sees('It works.');
  expect(await bridge.call('kill_task', { task_id })).toMatchObject({ status: 'killed' });
  await person.sees(`${task_id} killed`);
  await person.exited;
  expect(await bridge.status(task_id)).toMatchObject({ status: 'killed' });
});
