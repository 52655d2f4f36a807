import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { personalClaude } from '../../harness/native-plugin.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const WITH_SESSIONS = { MCP_TOOLSETS: 'tasks,native' };
const listedSchema = z.object({
  tasks: z.array(z.looseObject({ task_id: z.string(), status: z.string(), prompt_summary: z.string() })),
});

async function listed(bridge: TestBridge) {
  return listedSchema.parse(await bridge.call('list_tasks', { status: 'active' })).tasks;
}

/** The id of the only session, as soon as it is seen. */
async function onlySession(bridge: TestBridge): Promise<string> {
  await expect.poll(async () => (await listed(bridge)).length).toBe(1);
  return (await listed(bridge))[0]?.task_id ?? '';
}

describeNewestClaude('sessions that a person started', ({ binary }) => {
  test('are none of programs: claude -p is refused at once what it may not do', async () => {
    const script = [runs('touch by-program'), says('It was not allowed.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const said = await claude.run('-p', '--permission-mode', 'default', 'make it');
    expect(said).toContain('It was not allowed.');
    expect(existsSync(join(bridge.project, 'by-program'))).toBe(false);
    expect(listedSchema.parse(await bridge.call('list_tasks')).tasks).toEqual([]);
  });

  test('are continued in a session of a task', async () => {
    const script = [says('Remember: the word is plum.'), runs('touch next'), says('It is next.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const terminal = await claude.open();
    await terminal.prompt('tell me the word');
    const id = await onlySession(bridge);
    await terminal.sees('plum');
    const idle = await bridge.until(id, ({ reason }) => reason.includes('the session waits for a message'));
    expect(idle).toMatchObject({ last_output: 'Remember: the word is plum.' });
    expect(await listed(bridge)).toMatchObject([{ task_id: id, prompt_summary: 'tell me the word' }]);

    const next = await bridge.start({ prompt: 'Go on.', path: bridge.project, continue_from: id });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed', last_output: 'It is next.' });
    // What was said in the session came first.
    expect(
      bridge.api.requests.find(({ userText }) => userText.includes('Go on.'))?.messageCount,
    ).toBeGreaterThan(2);
    await terminal.leave();
    await bridge.end(id);
  });
});
