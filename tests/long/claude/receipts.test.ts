import { expect, it } from 'vitest';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import { drivers, describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

/** Each answer costs a tenth of a dollar, and takes longer than Claude Code waits before it tells its cost. */
const OUTPUT_TOKENS = 5_000;
const THINKS_MS = 700;

/** A model that never stops; with `agents` it first starts an agent that never stops, too. */
function runaway(agents: boolean): (request: ScriptedRequest) => ScriptedTurn {
  let asked = 0;
  return ({ kind }) => {
    if (kind === 'side') return { say: '{}' };
    asked++;
    const input =
      agents && asked === 1
        ? { name: 'Agent', input: { description: 'd', prompt: 'Work.', subagent_type: 'general-purpose' } }
        : { name: 'Bash', input: { command: `echo ${asked} >> work.txt`, description: 'a step' } };
    return { tools: [input], outputTokens: OUTPUT_TOKENS, delayMs: THINKS_MS };
  };
}

const limits = [
  ['tokens', { max_tokens: 18_000 }, /^budget: [\d,]+ of 18,000 tokens$/, 18_000 / OUTPUT_TOKENS],
  ['dollars', { max_cost_usd: 0.35 }, /^budget: \$\d\.\d\d of \$0\.35$/, 3.5],
] as const;

describeRealClaude('what a task has used', ({ binary }) => {
  it.each(drivers)('is known at its end, without what the session before it used: %s', async (driver) => {
    const answer = { say: 'Done.', outputTokens: OUTPUT_TOKENS };
    const bridge = await startBridge({ claude: binary, script: [answer, answer] });
    const first = await bridge.start({ driver });
    expect(await bridge.end(first)).toMatchObject({ status: 'completed' });
    const { usage } = await bridge.receipt(first);
    const next = await bridge.start({ driver, continue_from: first });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
    expect(usage.cost_usd).toBeGreaterThan(0.09);
    const used = (await bridge.receipt(next)).usage;
    expect(used.cost_usd).toBeCloseTo(Number(usage.cost_usd));
    for (const { models } of [usage, used])
      expect(models.reduce((sum, { output }) => sum + output, 0)).toBe(OUTPUT_TOKENS);
  });
});

describeRealClaude('a runaway task', ({ binary }) => {
  for (const driver of drivers)
    for (const agents of [false, true])
      for (const [name, limit, reason, answers] of limits)
        it(`${driver}, ${agents ? 'with an agent, ' : ''}is stopped by a budget in ${name} within one request of it, with its work there`, async () => {
          const bridge = await startBridge({ claude: binary, script: runaway(agents) });
          const id = await bridge.start({ driver, ...limit });
          const end = await bridge.end(id);
          expect(end.status).toBe('killed');
          expect(end.reason).toMatch(reason);
          expect(end.hint).toContain('its budget; its work is where it was');
          // The one that reached the limit, and one more for each conversation.
          const asked = bridge.api.requests.filter(({ kind }) => kind !== 'side').length;
          expect(asked).toBeLessThanOrEqual(Math.ceil(answers) + (agents ? 2 : 1));
          expect(asked).toBeGreaterThanOrEqual(Math.floor(answers));
          const work = await bridge.read('work.txt');
          expect(work.split('\n').length - 1).toBeGreaterThanOrEqual(1);
          const log = await bridge.output(id, 'log');
          expect(log.text).toContain('80 % of the budget is used');
        });
});

describeRealClaude('a command that goes on', ({ binary }) => {
  it.each(['interactive', 'print'])(
    'in the background is in log and receipt with its output and exit code (%s)',
    async (driver) => {
      const command = 'echo begun; sleep 1; echo done; exit 3';
      const background = { name: 'Bash', input: { command, description: 'b', run_in_background: true } };
      const bridge = await startBridge({
        claude: binary,
        script: [{ tools: [background] }, says('Started.'), says('It ended.')],
      });
      const id = await bridge.start({ prompt: 'Start it.', driver });
      await bridge.end(id);
      expect((await bridge.output(id, 'log')).text).toMatch(
        /: runs in the background\n[^]*✗ Bash\(.*\): exit code 3\n {4}begun\n {4}done\n/,
      );
      expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
        receipt: { commands: [{ command, exit_code: 3, output: 'begun\ndone' }], commands_failed: 1 },
      });
    },
  );

  it('until the task is killed is in log and receipt with what it had printed', async () => {
    const command = 'echo begun; sleep 60';
    const bridge = await startBridge({ claude: binary, script: [runs(command), says('Woke up.')] });
    const id = await bridge.start({ prompt: 'Wait.' });
    await bridge.until(id, async () => (await bridge.output(id, 'log')).text.includes('▶ Bash'));
    await bridge.until(id, async () => (await bridge.output(id, 'screen')).text.includes('ctrl+b'));
    await bridge.call('kill_task', { task_id: id });
    const { text } = await bridge.output(id, 'log');
    expect(text.match(/✗ Bash\(echo begun; sleep 60\): .*\n {4}begun\n/g)).toHaveLength(1);
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({
      receipt: { commands: [{ command, output: 'begun' }] },
    });
  });
});

describeRealClaude('the receipt of a session that was killed', ({ binary }) => {
  it.each(drivers)('has the command that ran when the keeper was gone: %s', async (driver) => {
    const workplace = await createWorkplace();
    const record = `$(cat ${workplace.stateDir}/tasks/*/record.json)`;
    const killsKeeper = `r=${record}; r=\${r#*'"keeper":'}; r=\${r#*'"pid":'}; kill -KILL \${r%%,*}`;
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: killsKeeper }] }] };
    const command = 'touch ran; tail -f /dev/null';
    const bridge = await startBridge({
      claude: binary,
      workplace,
      script: [runs(command)],
      userSettings: { hooks },
    });
    const id = await bridge.start({ driver });
    expect(await bridge.end(id)).toMatchObject({ status: 'error' });
    const { commands, usage } = await bridge.receipt(id);
    expect(commands).toMatchObject([{ command }]);
    expect(usage).toMatchObject({ models: [{ output: 10 }], cost_usd: 'unknown' });
  });

  it.each(drivers)('has no cost that Claude Code did not tell: %s', async (driver) => {
    // Its transcript has the message, and its status line mostly not yet.
    const command = 'until grep -q PPID ~/.claude/projects/*/*.jsonl; do :; done; kill -KILL $PPID';
    const bridge = await startBridge({ claude: binary, script: [runs(command)] });
    const id = await bridge.start({ driver });
    expect(await bridge.end(id)).toMatchObject({ status: 'failed' });
    const { usage } = await bridge.receipt(id);
    expect(usage.models).toMatchObject([{ output: 10 }]);
    expect(usage.cost_usd).not.toBe(0);
  });
});
