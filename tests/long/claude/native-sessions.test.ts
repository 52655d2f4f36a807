import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { personalClaude } from '../../harness/native-plugin.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);
const ASKS = 'Do you want to proceed?';
const WITH_SESSIONS = { MCP_TOOLSETS: 'tasks,native' };
const listedSchema = z.object({
  tasks: z.array(z.looseObject({ task_id: z.string(), status: z.string(), prompt_summary: z.string() })),
});

async function listed(bridge: TestBridge) {
  return listedSchema.parse(await bridge.call('list_tasks', { status: 'active' })).tasks;
}

/** The id of the only session, as soon as it is listed. */
async function onlySession(bridge: TestBridge): Promise<string> {
  await expect.poll(async () => (await listed(bridge)).length).toBe(1);
  return (await listed(bridge))[0]?.task_id ?? '';
}

/** What a command that fails prints on stderr. */
async function refused(bridge: TestBridge, ...args: string[]): Promise<string> {
  const failed = z.object({ stderr: z.string() });
  const running = run(process.execPath, [serverEntry, ...args], { env: bridge.env });
  return running.then(
    () => 'it was not refused',
    (error: unknown) => failed.parse(error).stderr,
  );
}

describeNewestClaude('sessions that a person started', ({ binary }) => {
  test('are listed without the plugin, with what they wait for, and are their person’s to answer', async () => {
    const script = [runs('touch made && sleep 3'), says('It is made.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    expect(await listed(bridge)).toEqual([]);
    const terminal = await claude.open();
    const id = await onlySession(bridge);
    await bridge.until(id, ({ status, reason }) => status === 'waiting' && reason.includes('is idle'));
    await terminal.prompt('make it');
    await terminal.sees(ASKS);
    const asking = await bridge.until(id, ({ reason }) => reason.includes('permission prompt'));
    expect(asking.decisions).toEqual([]);
    const answer = { task_id: id, decision_id: 'dec_1', verdict: 'allow' };
    expect(await bridge.refusal('respond_to_task', answer)).toContain(
      'The plugin code-bridge is not in the session',
    );
    expect(await bridge.refusal('kill_task', { task_id: id })).toContain('NATIVE_SESSION');
    expect((await bridge.output(id, 'log')).text).toContain('its terminal shows it');
    await terminal.press('1', terminal.sees('It is made.'));
    await bridge.until(id, ({ reason }) => reason.includes('is idle'));
    await terminal.leave();
    await expect.poll(() => listed(bridge), { timeout: 10_000 }).toEqual([]);
    expect(await bridge.refusal('get_task_status', { task_id: id })).toContain('TASK_NOT_FOUND');
  });

  test('are none of programs: claude -p is refused at once what it may not do, whoever looks', async () => {
    const script = [runs('touch by-program'), says('It was not allowed.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    expect(await listed(bridge)).toEqual([]);
    const said = await claude.run('-p', '--permission-mode', 'default', 'make it');
    expect(said).toContain('It was not allowed.');
    expect(existsSync(join(bridge.project, 'by-program'))).toBe(false);
    expect(listedSchema.parse(await bridge.call('list_tasks')).tasks).toEqual([]);
  });

  test('have the same id before their first prompt and after, and are continued in a session of a task', async () => {
    const script = [says('Remember: the word is plum.'), runs('touch next'), says('It is next.')];
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script });
    const claude = await personalClaude(bridge, binary);
    await claude.install();
    const terminal = await claude.open();
    const id = await onlySession(bridge);
    await terminal.prompt('tell me the word');
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

  test('are refused in commands without the plugin, and their receipts say that nothing was seen', async () => {
    const bridge = await startBridge({ claude: binary, env: WITH_SESSIONS, script: [says('Hello.')] });
    const claude = await personalClaude(bridge, binary);
    const name = await claude.background('say hello');
    const id = await onlySession(bridge);
    expect(await refused(bridge, 'attach', id)).toContain('NATIVE_SESSION');
    expect(await refused(bridge, 'attach', id.slice(0, 12))).toContain('NATIVE_SESSION');
    expect(await refused(bridge, 'attach', 'task_00000000000000000000')).toContain('TASK_NOT_FOUND');
    expect(await refused(bridge, 'native', 'answer', id, 'allow')).toContain(
      'The plugin code-bridge is not in the session',
    );

    await claude.run('stop', name);
    const ended = async () =>
      listedSchema.parse(await bridge.call('list_tasks', { status: 'finished' })).tasks;
    await expect.poll(async () => (await ended()).length).toBe(1);
    const endedId = (await ended())[0]?.task_id ?? '';
    const unseen = 'The plugin was not in this session, so nothing of it was seen.';
    expect(JSON.stringify(await bridge.call('get_task_result', { task_id: endedId }))).toContain(unseen);
    const shown = await run(process.execPath, [serverEntry, 'native', 'show', endedId], { env: bridge.env });
    expect(shown.stdout).toContain(unseen);
    expect(shown.stderr).not.toContain('ERROR');
  });
});
