// docs/native.md with the real Claude Code: a session that a person started, by the plugin.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { personalClaude } from '../harness/native-plugin.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';

const listedSchema = z.object({ tasks: z.tuple([z.looseObject({ task_id: z.string() })]) });

describeNewestClaude('a session that a person started, with the plugin', ({ binary }) => {
  test('is seen as a task, answered in its terminal or by the bridge, and ends with its person', async () => {
    const script = [
      runs('touch at-terminal'),
      says('The first is done.'),
      runs('touch allowed'),
      says('The second is done.'),
    ];
    const bridge = await startBridge({ claude: binary, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const terminal = await claude.open();

    // The dialog stands in the terminal while the bridge could answer, too.
    await terminal.prompt('make the first');
    await terminal.sees('Do you want to proceed?');
    await terminal.press('1', terminal.sees('The first is done.'));
    expect(existsSync(join(bridge.project, 'at-terminal'))).toBe(true);

    const { tasks } = await until('the session is a task', async () =>
      listedSchema.parse(await bridge.call('list_tasks')),
    );
    const [{ task_id }] = tasks;
    await bridge.status(task_id);
    await terminal.prompt('make the second');
    const asked = await bridge.decision(task_id);
    expect(asked).toMatchObject({ kind: 'permission', summary: 'Bash(touch allowed)' });
    expect(existsSync(join(bridge.project, 'allowed'))).toBe(false);
    await bridge.respond(task_id, asked, { verdict: 'allow' });
    await terminal.sees('The second is done.');
    expect(existsSync(join(bridge.project, 'allowed'))).toBe(true);

    // It is its person's.
    expect(await bridge.refusal('kill_task', { task_id })).toContain('NATIVE_SESSION');
    await terminal.leave();
    const end = await bridge.end(task_id);
    expect(end.status).toBe('completed');
    expect(end.reason).toContain('as it does when the session ends');
  });
});
