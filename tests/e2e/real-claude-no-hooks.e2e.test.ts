import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../harness/real-claude.js';
import { asks, runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';

const userSettings = { disableAllHooks: true };

describeNewestClaude('a CLI whose user has switched hooks off', ({ binary }) => {
  it('is driven by its screen: trust, an approval, the end of the turn', async () => {
    const bridge = await startBridge({
      claude: binary,
      userSettings,
      trusted: false,
      script: [runs('touch made.txt'), says('All made.')],
    });
    const id = await bridge.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({ kind: 'trust' });
    const decision = await bridge.answerNext(id, { verdict: 'allow' });
    expect(decision).toMatchObject({ kind: 'permission' });
    expect(decision.summary).toContain('touch made.txt');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(end.last_output).toContain('All made.');
    expect(existsSync(join(bridge.project, 'made.txt'))).toBe(true);
  });

  it('a denial reaches the model', async () => {
    const bridge = await startBridge({
      claude: binary,
      userSettings,
      script: [runs('touch made.txt'), says('Not then.')],
    });
    const id = await bridge.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    await bridge.answerNext(id, { verdict: 'deny', message: 'No.' });
    await bridge.until(id, ({ status, decisions }) => status !== 'running' && decisions.length === 0);
    expect(existsSync(join(bridge.project, 'made.txt'))).toBe(false);
    if ((await bridge.status(id)).status === 'waiting') await bridge.call('kill_task', { task_id: id });
  });

  it('mode auto approves by rule, and a question is answered at its menu', async () => {
    const question = 'Which database should I use?';
    const bridge = await startBridge({
      claude: binary,
      userSettings,
      script: [runs('touch made.txt'), asks(question, ['PostgreSQL', 'MariaDB']), says('As you say.')],
    });
    const id = await bridge.start({ prompt: 'Choose.', path: bridge.project });
    const decision = await bridge.decision(id);
    expect(decision).toMatchObject({ kind: 'question', summary: question });
    expect(existsSync(join(bridge.project, 'made.txt'))).toBe(true);
    await bridge.respond(id, decision, { verdict: 'allow', answers: { [question]: 'MariaDB' } });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'completed' });
    expect(end.last_output).toContain('As you say.');
    expect(bridge.api.requests.flatMap((request) => request.toolResults)[1]?.text).toContain('MariaDB');
  });
});
