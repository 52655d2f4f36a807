import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTaskId } from '../../../src/base/ids.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

it('a client is answered before any record is looked at', async () => {
  const workplace = await createWorkplace();
  const task_id = createTaskId(Date.now());
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
