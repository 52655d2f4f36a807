import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asksAboutPrompts, scriptedAgent } from '../../harness/scripted-agent.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeNewestClaude('a task of the real CLI and its servers', ({ binary }) => {
  it('a server that is killed takes nothing with it: another follows the task, answers it and sees its end', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('touch made.txt'), says('Made after all.')],
    });
    const id = await bridge.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    const asked = await bridge.decision(id);
    process.kill(bridge.mcp.pid, 'SIGKILL');
    const other = await bridge.another();
    expect(await other.status(id)).toMatchObject({
      status: 'waiting',
      decisions: [{ decision_id: asked.decision_id }],
    });
    await expect.poll(async () => (await other.output(id, 'screen')).text).toContain('touch made.txt');
    await other.respond(id, asked, { verdict: 'allow' });
    expect(await other.end(id)).toMatchObject({ status: 'completed', last_output: 'Made after all.' });
    expect(existsSync(join(bridge.project, 'made.txt'))).toBe(true);
  });

  it('a question of the print driver outlives its server, too', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [asks('Which one?', ['This', 'That']), says('That it is.')],
    });
    const id = await bridge.start({ prompt: 'Choose.', path: bridge.project, driver: 'print' });
    const asked = await bridge.decision(id);
    process.kill(bridge.mcp.pid, 'SIGKILL');
    const other = await bridge.another();
    await other.respond(id, asked, { verdict: 'allow', answers: { Choice: 'That' } });
    expect(await other.end(id)).toMatchObject({ status: 'completed', last_output: 'That it is.' });
    expect(bridge.api.requests.at(-1)?.toolResults[0]?.text).toContain('That');
  });

  it('of two answers from two servers the first wins, and the other is told so', async () => {
    const bridge = await startBridge({ claude: binary, script: [runs('touch made.txt'), says('Made.')] });
    const other = await bridge.another('legacy');
    const id = await bridge.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    const asked = await bridge.decision(id);
    const answer = { task_id: id, decision_id: asked.decision_id };
    const answers = await Promise.allSettled([
      bridge.call('respond_to_task', { ...answer, verdict: 'allow' }),
      other.call('respond_to_task', { ...answer, verdict: 'deny' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refusal = answers.find((one) => one.status === 'rejected');
    expect(String(refusal?.reason)).toMatch(/DECISION_CLOSED: .* is closed: (allow|deny) by caller/);
    await bridge.end(id);
    expect(await bridge.events(id, 'decision-closed')).toHaveLength(1);
  });
});

// What servers and keepers do, whatever program the task runs.
describe('a task and its servers', () => {
  it('a client that leaves in the middle of the work leaves the task running; the next one ends it', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    await expect.poll(async () => (await bridge.output(id, 'screen')).text).toContain('working');
    await bridge.mcp.close();
    const other = await bridge.another('legacy');
    expect(await other.status(id)).toMatchObject({ status: 'running' });
    expect(await other.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  });

  it('a second task in a busy project is refused by name, also by another server', async () => {
    const env = { MCP_RULES: JSON.stringify(asksAboutPrompts) };
    const bridge = await startBridge({ claude: scriptedAgent, env });
    const id = await bridge.start({ prompt: 'AGENT: split-prompt', path: bridge.project });
    await bridge.decision(id);
    const other = await bridge.another('legacy');
    const link = join(bridge.workplace.projectsDir, 'link');
    await symlink(bridge.project, link);
    for (const path of [bridge.project, `${bridge.project}/`, link]) {
      for (const client of [bridge, other]) {
        const refusal = await client.refusal('start_task', { prompt: 'Me too.', path });
        expect(refusal).toMatch(/^TASK_ALREADY_RUNNING: A task is already running for project /);
        expect(refusal).toContain(id);
      }
    }
    expect(await other.call('list_tasks', {})).toMatchObject({ tasks: [{ task_id: id, status: 'waiting' }] });
    await other.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(await bridge.events(id, 'decision-closed')).toHaveLength(1);
  });
});
