import { expect, it } from 'vitest';
import type { SessionUsage } from '../../../src/claude/session.js';
import { until } from '../../harness/until.js';
import { createRun, type RunHarness } from '../run-harness.js';

const call = { id: 'toolu_1', tool: 'Bash', input: { command: 'make' } };

function used(output: number, costUsd: number | null = null): SessionUsage {
  return { models: { opus: { input: 0, output, cacheRead: 0, cacheWrite: 0 } }, costUsd };
}

/** A run that has begun; what it has used comes from `usage`. */
async function begun(
  budget: { readonly max_cost_usd?: number; readonly max_tokens?: number },
  usage: () => SessionUsage | undefined,
): Promise<RunHarness> {
  const harness = await createRun({ spec: { budget } });
  harness.driver.usage = async () => usage();
  await harness.run.start();
  return harness;
}

it('a call within the budget runs; the one after its end does not, and the session is ended with the figures', async () => {
  let tokens = 30_000;
  const { run, driver, onDisk } = await begun({ max_tokens: 50_000 }, () => used(tokens));
  expect(await run.refusal(call)).toBeUndefined();
  tokens = 51_000;
  const refused = run.refusal(call);
  // Neither the answer nor the model is reached before the program is gone.
  await until('the session is ended', () => expect(driver.told).toContain('kill'));
  driver.exit({ signal: 'SIGTERM' });
  expect(await refused).toBe('budget: 51,000 of 50,000 tokens');
  const ended = await run.ended;
  expect(ended).toMatchObject({
    status: 'killed',
    reason: 'budget: 51,000 of 50,000 tokens',
    ended_by_budget: 'task',
    tokens: 51_000,
  });
  expect(await onDisk()).toMatchObject({ status: 'killed', budget: { max_tokens: 50_000 } });
});

it('at four fifths it warns once: in the status, the journal and the log, and a waiting caller is woken', async () => {
  const { run, log, journal } = await begun({ max_cost_usd: 2 }, () => used(10, 1.62));
  const before = run.record.change_seq;
  await run.refusal(call);
  await run.refusal(call);
  const words = '80 % of the budget is used: $1.62 of $2.00';
  expect(run.record).toMatchObject({
    status: 'running',
    reason: `The agent runs. ${words}.`,
    cost_usd: 1.62,
  });
  expect(run.record.change_seq).toBe(before + 1);
  expect(log().split(words)).toHaveLength(2);
  expect((await journal()).filter(({ type }) => type === 'budget')).toMatchObject([{ state: 'low' }]);
});

it('it is counted between calls, too', async () => {
  let tokens = 1;
  const { run, driver, clock } = await begun({ max_tokens: 100 }, () => used(tokens));
  clock.advance(2_000);
  await until('it was counted', () => expect(run.record.tokens).toBe(1));
  expect(driver.told).not.toContain('kill');
  tokens = 100;
  clock.advance(2_000);
  await until('the session is ended', () => expect(driver.told).toContain('kill'));
  driver.exit({ signal: 'SIGTERM' });
  expect(await run.ended).toMatchObject({ status: 'killed', reason: 'budget: 100 of 100 tokens' });
});

it('the budget of a day counts what other tasks used, ends this one, and starts none when nothing is left', async () => {
  let others = { costUsd: 4, tokens: 0 };
  const spec = { settings: { day_budget: { max_cost_usd: 5 } } };
  const start = async () => {
    const harness = await createRun({ spec, spentByOthers: async () => others });
    harness.driver.usage = async () => used(1, 1.25);
    return harness;
  };
  const { run, driver } = await start();
  await run.start();
  const refused = run.refusal(call);
  await until('the session is ended', () => expect(driver.told).toContain('kill'));
  driver.exit({ signal: 'SIGTERM' });
  expect(await refused).toBe('budget of the day: $5.25 of $5.00');
  expect(await run.ended).toMatchObject({ status: 'killed', ended_by_budget: 'day' });
  others = { costUsd: 5, tokens: 0 };
  const next = await start();
  await expect(next.run.start()).rejects.toMatchObject({ code: 'BUDGET_USED' });
  expect(next.driver.told).toEqual([]);
});

it.each([
  ['its tokens', { max_tokens: 100 }, undefined],
  ['its cost', { max_cost_usd: 2 }, used(1)],
])(
  'a budget that cannot be held ends the task: Claude Code does not report %s',
  async (what, budget, usage) => {
    const { run, driver } = await begun(budget, () => usage);
    const refused = run.refusal(call);
    await until('the session is ended', () => expect(driver.told).toContain('kill'));
    driver.exit({ signal: 'SIGTERM' });
    await refused;
    expect(await run.ended).toMatchObject({
      status: 'failed',
      reason: `The budget cannot be held: Claude Code does not report ${what}.`,
    });
  },
);

it('a program that tells nothing is not started with a budget', async () => {
  const { run, driver } = await createRun({ spec: { budget: { max_tokens: 100 } } });
  await expect(run.start()).rejects.toThrow('A budget is set, and what this program uses is not known here.');
  expect(driver.told).toEqual([]);
});

it('without a budget no call is held up, and what was used is in the record all the same', async () => {
  const { run, driver } = await createRun();
  let asked = 0;
  driver.usage = async () => {
    asked++;
    return used(7, 0.5);
  };
  await run.start();
  expect(await run.refusal(call)).toBeUndefined();
  expect(asked).toBe(0);
  driver.endTurn('Done.');
  driver.exit();
  expect(await run.ended).toMatchObject({ status: 'completed', tokens: 7, cost_usd: 0.5 });
});
