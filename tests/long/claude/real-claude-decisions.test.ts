import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planTurns } from '../../harness/plan-turns.js';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeNewestClaude('what an answer carries', ({ binary }) => {
  it('files from outside that CLAUDE.md imports are asked about', async () => {
    const bridge = await startBridge({ claude: binary, script: [says('Done.')] });
    const outside = join(bridge.workplace.homeDir, 'outside.txt');
    writeFileSync(outside, 'Words from outside.');
    writeFileSync(join(bridge.project, 'CLAUDE.md'), `See @${outside}`);
    const id = await bridge.start();
    const imports = await bridge.answerNext(id, { verdict: 'deny', message: 'No.' });
    expect(imports.summary).toBe(`Let CLAUDE.md import files from outside of the project: ${outside}`);
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Done.' });
    expect(JSON.stringify(bridge.api.requests)).not.toContain('Words from outside.');
  });

  it.each(drivers)(
    'a command is run as who allowed it changed it, unless a rule denies that, and a yes for the session holds for the next call (%s)',
    async (driver) => {
      const rules = [{ rule: 'Bash(rm *)', verdict: 'deny', reason: 'Nothing is removed.' }];
      const bridge = await startBridge({
        claude: binary,
        env: { MCP_RULES: JSON.stringify(rules) },
        script: [runs('touch asked.txt'), runs('touch one.txt'), runs('touch one.txt'), says('All made.')],
      });
      const id = await bridge.start({ prompt: 'Touch.', permission_mode: 'cautious', driver });
      const asked = await bridge.decision(id);
      const answer = { task_id: id, decision_id: asked.decision_id, verdict: 'allow' };
      expect(await bridge.refusal('respond_to_task', { ...answer, answers: { command: 'rm -r .' } })).toMatch(
        /^INVALID_ARGUMENTS: The rule Bash\(rm \*\) denies/,
      );
      await bridge.call('respond_to_task', { ...answer, answers: { command: 'touch edited.txt' } });
      await bridge.answerNext(id, { verdict: 'allow_session' });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All made.' });
      expect(bridge.has('edited.txt')).toBe(true);
      expect(bridge.has('asked.txt')).toBe(false);
      expect(await bridge.decided(id)).toEqual([
        'Bash allow caller',
        'Bash allow_session caller',
        'Bash allow rule',
      ]);
      const [edited] = await bridge.events(id, 'decision-closed');
      expect(edited).toMatchObject({ reason: 'command → touch edited.txt' });
      // Nothing of the yes is kept beyond the session.
      expect(readdirSync(join(bridge.project, '.claude'))).toEqual(['mcp-logs']);
    },
  );

  it.each(drivers)('a plan is approved with the mode for what follows (%s)', async (driver) => {
    const bridge = await startBridge({
      claude: binary,
      script: () => {
        const next = script[0]?.() ?? says('No more.');
        script.shift();
        return next;
      },
    });
    const file_path = join(bridge.project, 'a.txt');
    const script = [
      ...planTurns(bridge, '1. Write a.'),
      () => ({ tools: [{ name: 'Write', input: { file_path, content: 'a' } }] }),
      () => says('The first is done.'),
      ...planTurns(bridge, '1. Touch a and b.'),
      () => runs('touch b.txt'),
      () => says('The second is done.'),
    ];
    const id = await bridge.start({
      prompt: 'Plan it.',
      permission_mode: 'cautious',
      driver,
      keep_open: true,
    });
    const plan = { verdict: 'allow', answers: { mode: 'acceptEdits' } };
    expect(await bridge.answerNext(id, plan)).toMatchObject({ kind: 'plan' });
    await bridge.until(id, (view) => view.last_output.includes('The first is done.'));
    await bridge.call('message_task', { task_id: id, text: 'And again.' });
    await bridge.answerNext(id, { verdict: 'allow', answers: { mode: 'auto', plan: '1. Touch b alone.' } });
    await bridge.until(id, (view) => view.last_output.includes('The second is done.'));
    expect(bridge.told().join('\n')).toContain('1. Touch b alone.');
    expect(bridge.has('b.txt')).toBe(true);
    // The first was written without a question, since the CLI itself accepts edits; the second by mode auto.
    expect(await bridge.decided(id)).toEqual(['ExitPlanMode allow caller', 'ExitPlanMode allow caller']);
    await bridge.call('kill_task', { task_id: id });
  });

  it('is asked for also where a user has forbidden hooks', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('echo made > made.txt'), says('All made.')],
      userSettings: { disableAllHooks: true },
    });
    const id = await bridge.start({ prompt: 'Make it.', permission_mode: 'cautious' });
    const decision = await bridge.answerNext(id, { verdict: 'allow' });
    expect(decision).toMatchObject({ kind: 'permission' });
    expect(decision.summary).toContain('echo made > made.txt');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All made.' });
    expect(bridge.has('made.txt')).toBe(true);
  });
});
