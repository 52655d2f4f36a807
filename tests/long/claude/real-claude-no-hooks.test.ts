import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedTurn } from '../../../src/cli/demo/messages-api.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const userSettings = { disableAllHooks: true };
/** More often than the CLI asks. */
const ALWAYS = 100;

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
    await bridge.end(id);
    expect(existsSync(join(bridge.project, 'made.txt'))).toBe(false);
    expect((await bridge.output(id, 'log')).text).not.toContain("doesn't want to proceed");
    const { receipt } = z
      .looseObject({
        receipt: z.looseObject({ commands: z.array(z.unknown()), denials: z.array(z.unknown()) }),
      })
      .parse(await bridge.call('get_task_result', { task_id: id }));
    expect(receipt.commands).toEqual([]);
    expect(receipt.denials).toMatchObject([{ by: 'caller', reason: 'No.' }]);
  });

  it.each([
    ['invalid_request_error', 400, 'Your credit balance is too low', 'no-credit'],
    ['permission_error', 403, 'Your organization has disabled this', 'not-logged-in'],
    ['not_found_error', 404, 'model: nope', 'no-model'],
  ])('an error of the API fails the task: %s %i', async (type, status, message, kind) => {
    const failure: ScriptedTurn = { error: { status, type, message }, repeat: ALWAYS };
    const bridge = await startBridge({
      claude: binary,
      userSettings,
      script: [runs('echo hi', 'I look.'), failure],
    });
    const id = await bridge.start({ prompt: 'Do it.', path: bridge.project, keep_open: true });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', trouble: { kind } });
    expect(end.reason).toMatch(/^Claude Code stopped: /);
    expect(end.hint).toMatch(/^Task failed\. Its reason says why\. /);
    // In the order in which it happened.
    expect((await bridge.output(id, 'log')).text).toMatch(
      /Claude: I look\.\n.*▶ Bash\(echo hi\)\n[^]*✓ Bash\(echo hi\): exit code 0\n {4}hi\n.*The turn is over\n/,
    );
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
