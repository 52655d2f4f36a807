import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { isFinal, taskRecordSchema } from '../../../src/tasks/task.js';
import { nextEvent } from '../../../src/base/lifecycle.js';
import { bundleKeeper, openHost } from '../../keeper/open-host.js';

const keeper = bundleKeeper();

it.each([
  { what: 'ends at once', script: 'process.exit(3)', why: /could not be started: it ended at once/ },
  {
    what: 'says something else',
    script: "import { writeSync } from 'node:fs'; writeSync(3, 'hello')",
    why: /could not be started: its first message was not understood/,
  },
])('a keeper that $what is told, with the place of its log', async ({ script, why }) => {
  const scratch = await openHost({ keeperEntry: keeper() });
  const keeperEntry = join(dirname(scratch.project), 'broken-keeper.mjs');
  await writeFile(keeperEntry, script);
  const { host, prepare } = await openHost({ keeperEntry });
  const launch = host.launch(await prepare('AGENT: exit'));
  await expect(launch).rejects.toMatchObject({ code: 'TASK_START_FAILED' });
  await expect(launch).rejects.toThrow(why);
});

it('a keeper whose server died before it had handed all over touches nothing and ends', async () => {
  const { prepare, stateDir, runtimePath, project, processes } = await openHost({ keeperEntry: keeper() });
  const { task_id: taskId } = await prepare('AGENT: exit');
  const { status, output } = spawnSync(process.execPath, [keeper(), taskId, stateDir, runtimePath], {
    input: '{"spec":',
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  expect([status, output[3]]).toEqual([1, expect.stringMatching(/^\{"owner":.*\n\{"error":.*\n$/)]);
  expect(await readdir(project)).toEqual([]);
  expect(await processes()).toEqual([]);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'a keeper that gets %s ends its task and then itself',
  async (signal) => {
    const { host, prepare, stateDir } = await openHost({ keeperEntry: keeper() });
    const record = await host.launch(await prepare('AGENT: never-exits'));
    const link = await host.connect(record);
    if (link === undefined || record.keeper === null) throw new Error('no keeper');
    const final = nextEvent(link.onRecord, ({ status }) => isFinal(status));
    process.kill(record.keeper.pid, 'SIGHUP');
    process.kill(record.keeper.pid, signal);
    expect(await final).toMatchObject({
      status: 'killed',
      reason: `The keeper of the task received ${signal}.`,
    });
    link.dispose();
    const onDisk: unknown = JSON.parse(
      await readFile(join(stateDir, 'tasks', record.task_id, 'record.json'), 'utf8'),
    );
    expect(taskRecordSchema.parse(onDisk).status).toBe('killed');
  },
);
