import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import { receiptSchema } from '../../../src/tasks/receipt/receipt.js';
import { drivers, describeRealClaude } from '../../harness/real-claude.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

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

/** What the receipt says of cost and tokens. */
async function usedBy(bridge: TestBridge, id: string): Promise<{ costUsd: unknown; output: number }> {
  const { receipt } = z
    .looseObject({ receipt: receiptSchema })
    .parse(JSON.parse(await bridge.mcp.readResource(`tasks://${id}`)));
  const output = receipt.usage.models.reduce((sum, model) => sum + model.output, 0);
  return { costUsd: receipt.usage.cost_usd, output };
}

describeRealClaude('what a task has used', ({ binary }) => {
  it.each(drivers)('is known at its end, without what the session before it used: %s', async (driver) => {
    const answer = { say: 'Done.', outputTokens: OUTPUT_TOKENS };
    const script = ({ kind }: ScriptedRequest): ScriptedTurn => (kind === 'side' ? { say: '{}' } : answer);
    const bridge = await startBridge({ claude: binary, script });
    const task = { prompt: 'Work.', path: bridge.project, driver };
    const first = await bridge.start(task);
    expect(await bridge.end(first)).toMatchObject({ status: 'completed' });
    const before = await usedBy(bridge, first);
    const next = await bridge.start({ ...task, continue_from: first });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
    expect(before.output).toBe(OUTPUT_TOKENS);
    expect(before.costUsd).toBeGreaterThan(0.09);
    expect(await usedBy(bridge, next)).toEqual({
      costUsd: expect.closeTo(Number(before.costUsd)) as unknown,
      output: OUTPUT_TOKENS,
    });
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
          const work = await readFile(join(bridge.project, 'work.txt'), 'utf8');
          expect(work.split('\n').length - 1).toBeGreaterThanOrEqual(1);
          const log = await bridge.output(id, 'log');
          expect(log.text).toContain('80 % of the budget is used');
        });
});
