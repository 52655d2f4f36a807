import { describe, expect, it, vi } from 'vitest';
import { answerOf } from '../../src/approvals/judge.js';
import type { SessionAnswer, SessionRequest } from '../../src/claude/session.js';
import type { Person } from '../../src/mcp/person.js';
import { openDecisions, type PermissionMode } from '../../src/tasks/task.js';
import { askPerson } from '../../src/tools/tasks/ask-person.js';
import { createRun, type RunHarness } from './run-harness.js';

/** Beside other work a moment may take seconds. */
const PATIENCE = { timeout: 10_000 };

const PROJECT = '/home/ann/app';
const DEADLINE_SECONDS = 600;
const DENIED_LATE =
  'No answer came within 600 seconds, so this was denied. Go on without it, or choose another way.';

const options = [{ label: 'Red' }, { label: 'Blue', description: 'the colour' }];

/** `form`: what a person fills into the form for the answer `yes`. `rule` answers in mode auto; without one a person must. */
const kinds = [
  {
    kind: 'permission',
    request: {},
    yes: { verdict: 'allow' },
    form: {},
    told: { verdict: 'allow' },
    rule: undefined,
  },
  {
    kind: 'question',
    request: {
      kind: 'question',
      tool: 'AskUserQuestion',
      options: ['Red', 'Blue'],
      questions: [{ question: 'Which?', header: 'Choice', multiSelect: false, options }],
    },
    yes: { verdict: 'allow', answers: { 'Which?': 'Blue' } },
    form: { '1_Choice': 'Blue' },
    told: { verdict: 'allow', answers: { 'Which?': 'Blue' } },
    rule: undefined,
  },
  {
    kind: 'plan',
    request: { kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Go.' } },
    yes: { verdict: 'allow', answers: { mode: 'acceptEdits' } },
    form: { mode: 'acceptEdits' },
    told: { verdict: 'allow', mode: 'acceptEdits' },
    rule: 'auto-plan',
  },
  {
    kind: 'trust',
    request: { kind: 'trust', tool: 'trust-folder', source: 'observed', input: { folder: PROJECT } },
    yes: { verdict: 'allow' },
    form: {},
    told: { verdict: 'allow' },
    rule: 'auto-trust',
  },
] as const;

async function asked(request: Partial<SessionRequest>, permission_mode: PermissionMode): Promise<RunHarness> {
  const harness = await createRun({
    spec: { settings: { decision_timeout_seconds: DEADLINE_SECONDS }, permission_mode },
    check: (one, mode) => answerOf(one, mode, []),
  });
  await harness.run.start();
  harness.driver.ask({ requestId: 'r1', ...request });
  await vi.waitUntil(() => harness.run.record.decisions.length > 0, PATIENCE);
  return harness;
}

/** Puts the open decision to a person in a form. */
function byForm({ run }: RunHarness, outcome: Awaited<ReturnType<Person['ask']>>) {
  const person: Person = { answeredKeys: [], ask: async () => outcome };
  return askPerson(run.record, { respond: (_id, answer) => run.respond(answer) }, person, 45_000);
}

/** The session has that answer alone, whatever comes later, and goes on. */
async function isClosed({ run, driver }: RunHarness, closed: object, told?: SessionAnswer): Promise<void> {
  await vi.waitUntil(() => openDecisions(run.record).length === 0, PATIENCE);
  const late = run.respond({ decision_id: 'dec_1', by: 'late', verdict: 'allow' });
  await expect(late).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
  expect(run.record.decisions).toMatchObject([closed]);
  const answers = told === undefined ? [] : [{ requestId: 'r1', answer: told }];
  await vi.waitUntil(() => driver.answers.length === answers.length, PATIENCE);
  expect(driver.answers).toEqual(answers);
  expect(run.record.status).toBe('running');
  driver.exit();
  await run.ended;
}

describe.each(kinds)('a decision: $kind', ({ request, yes, form, told, rule }) => {
  it(`is answered in mode auto by ${rule ?? 'no rule'}`, async () => {
    const harness = await asked(request, 'auto');
    if (rule !== undefined)
      return isClosed(harness, { verdict: 'allow', answered_by: 'rule' }, { verdict: 'allow' });
    expect(harness.run.record.status).toBe('waiting');
    await harness.run.respond({ decision_id: 'dec_1', verdict: 'deny', by: 'caller', message: 'No.' });
    return isClosed(harness, { verdict: 'deny', reason: 'No.' }, { verdict: 'deny', message: 'No.' });
  });

  it.each(['caller', 'terminal', 'elicitation'])(
    'is answered by %s, and later answers are refused',
    async (by) => {
      const harness = await asked(request, 'cautious');
      expect(harness.run.record.status).toBe('waiting');
      if (by === 'elicitation') await byForm(harness, { kind: 'answered', values: form });
      else await harness.run.respond({ decision_id: 'dec_1', by, ...yes });
      await isClosed(harness, { verdict: yes.verdict, answered_by: by }, told);
    },
  );

  it('is withdrawn when a person types at the terminal, and denied at its deadline', async () => {
    const typed = await asked(request, 'cautious');
    typed.run.typed();
    typed.driver.fire({ type: 'request-gone', requestId: 'r1' });
    await isClosed(typed, { verdict: 'withdrawn', answered_by: 'terminal' });
    const late = await asked(request, 'cautious');
    late.clock.advance(DEADLINE_SECONDS * 1000);
    const denied = { verdict: 'deny', message: DENIED_LATE } as const;
    await isClosed(late, { verdict: 'deny', answered_by: 'deadline' }, denied);
  });
});

it.each(['auto', 'cautious'] as const)(
  'what follows a plan that was approved with %s is in it',
  async (mode) => {
    const harness = await asked(kinds[2].request, 'cautious');
    await harness.run.respond({ decision_id: 'dec_1', verdict: 'allow', answers: { mode }, by: 'caller' });
    expect(harness.run.record.permission_mode).toBe(mode);
    await isClosed(harness, {}, { verdict: 'allow', mode: 'default' });
  },
);

it('a form that is declined denies, and tells the session that a person said no', async () => {
  const harness = await asked({}, 'cautious');
  expect(await byForm(harness, { kind: 'declined' })).toMatchObject({ status: 'running' });
  const message = 'A person was asked, and declined this.';
  await isClosed(harness, { answered_by: 'elicitation', reason: message }, { verdict: 'deny', message });
});
