import { describe, expect, it, vi } from 'vitest';
import { answerOf } from '../../src/approvals/answer-of.js';
import type { SessionAnswer, SessionRequest } from '../../src/claude/session.js';
import type { Person } from '../../src/mcp/person.js';
import type { DecisionAnswer } from '../../src/tasks/task-host.js';
import { openDecisions, type PermissionMode } from '../../src/tasks/task.js';
import { askPerson } from '../../src/tools/tasks/ask-person.js';
import { createRun, type RunHarness } from './run-harness.js';

/** Beside other work a moment may take seconds. */
const PATIENCE = { timeout: 10_000 };

const PROJECT = '/home/ann/app';
const DEADLINE_SECONDS = 600;
const DENIED_LATE =
  'No answer came within 600 seconds, so this was denied. Go on without it, or choose another way.';

interface Kind {
  readonly kind: string;
  readonly request: Partial<SessionRequest>;
  /** What a caller answers, and what a person fills into the form for the same. */
  readonly yes: Pick<DecisionAnswer, 'verdict' | 'answers'>;
  readonly form: Readonly<Record<string, string>>;
  /** What the session is told then. */
  readonly told: SessionAnswer;
  /** The rule that answers in mode auto; none where a person must. */
  readonly rule?: string;
}

function question(): Partial<SessionRequest> {
  const options = [{ label: 'Red' }, { label: 'Blue', description: 'the colour' }, { label: 'Green' }];
  return {
    kind: 'question',
    tool: 'AskUserQuestion',
    options: options.map(({ label }) => label),
    questions: [{ question: 'Which?', header: 'Choice', multiSelect: false, options }],
  };
}

const plainYes: Pick<Kind, 'yes' | 'form' | 'told'> = {
  yes: { verdict: 'allow' },
  form: {},
  told: { verdict: 'allow' },
};

const kinds: readonly Kind[] = [
  { kind: 'permission', request: {}, ...plainYes },
  {
    kind: 'question with one answer',
    request: question(),
    yes: { verdict: 'allow', answers: { 'Which?': 'Blue' } },
    form: { '1_Choice': 'Blue' },
    told: { verdict: 'allow', answers: { 'Which?': 'Blue' } },
  },
  {
    kind: 'plan with a mode for what follows',
    request: { kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Go.' } },
    yes: { verdict: 'allow', answers: { mode: 'acceptEdits' } },
    form: { mode: 'acceptEdits' },
    told: { verdict: 'allow', mode: 'acceptEdits' },
    rule: 'auto-plan',
  },
  {
    kind: 'trust in the folder',
    request: { kind: 'trust', tool: 'trust-folder', source: 'observed', input: { folder: PROJECT } },
    ...plainYes,
    rule: 'auto-trust',
  },
  {
    kind: 'another start dialog',
    request: { kind: 'prompt', tool: 'api-key', source: 'observed', input: {} },
    ...plainYes,
  },
];

interface Route {
  readonly route: string;
  /** Who the record says it was. */
  readonly by: string;
  readonly answer: (harness: RunHarness, decisionId: string, kind: Kind) => Promise<unknown>;
  readonly verdict: (kind: Kind) => string;
  /** What the session is told; undefined where it was answered there. */
  readonly told: (kind: Kind) => SessionAnswer | undefined;
}

function respondsAs(route: string, by: string): Route {
  return {
    route,
    by,
    answer: ({ run }, decision_id, { yes }) => run.respond({ decision_id, by, ...yes }),
    verdict: ({ yes }) => yes.verdict,
    told: ({ told }) => told,
  };
}

const routes: readonly Route[] = [
  respondsAs('respond_to_task', 'caller'),
  {
    ...respondsAs('elicitation', 'elicitation'),
    answer: async ({ run }, _, { form }) => {
      const person: Person = { answeredKeys: [], ask: async () => ({ kind: 'answered', values: form }) };
      return askPerson(run.record, { respond: (_id, answer) => run.respond(answer) }, person, 45_000);
    },
  },
  respondsAs('bar of the attached terminal', 'terminal'),
  {
    route: 'keys at the attached terminal',
    by: 'terminal',
    answer: async ({ run, driver }) => {
      run.typed();
      driver.fire({ type: 'request-gone', requestId: 'r1' });
    },
    verdict: () => 'withdrawn',
    told: () => undefined,
  },
  {
    route: 'deadline',
    by: 'deadline',
    answer: async ({ clock }) => clock.advance(DEADLINE_SECONDS * 1000),
    verdict: () => 'deny',
    told: () => ({ verdict: 'deny', message: DENIED_LATE }),
  },
];

async function asked(kind: Kind, permission_mode: PermissionMode): Promise<RunHarness> {
  const harness = await createRun({
    spec: { settings: { decision_timeout_seconds: DEADLINE_SECONDS }, permission_mode },
    check: (request, mode) => answerOf(request, mode, []),
  });
  await harness.run.start();
  harness.driver.ask({ requestId: 'r1', ...kind.request });
  await vi.waitUntil(() => harness.run.record.decisions.length > 0, PATIENCE);
  return harness;
}

async function ended({ run, driver }: RunHarness): Promise<void> {
  expect(run.record.status).toBe('running');
  driver.exit();
  await run.ended;
}

describe.each(kinds)('a decision: $kind', (kind) => {
  it(`is ${kind.rule === undefined ? 'answered by no rule' : `answered by the rule ${kind.rule}`} in mode auto`, async () => {
    const harness = await asked(kind, 'auto');
    const { run, driver } = harness;
    if (kind.rule === undefined) {
      expect(run.record.status).toBe('waiting');
      expect(driver.answers).toEqual([]);
      await run.respond({ decision_id: 'dec_1', verdict: 'deny', by: 'caller' });
    } else {
      expect(driver.answers).toEqual([{ requestId: 'r1', answer: { verdict: 'allow' } }]);
      expect(run.record.decisions).toMatchObject([{ verdict: 'allow', answered_by: 'rule' }]);
      expect(run.record.decisions[0]?.reason).toMatch(new RegExp(`^${kind.rule}: `));
    }
    await ended(harness);
  });

  it.each(routes)('is answered by $route, and nobody answers it again', async (route) => {
    const harness = await asked(kind, 'cautious');
    const { run, driver } = harness;
    const [open] = openDecisions(run.record);
    expect(open).toMatchObject({ decision_id: 'dec_1', verdict: null });
    expect(run.record.status).toBe('waiting');
    await route.answer(harness, 'dec_1', kind);
    await vi.waitUntil(() => openDecisions(run.record).length === 0, PATIENCE);
    expect(run.record.decisions).toMatchObject([{ verdict: route.verdict(kind), answered_by: route.by }]);
    const told = route.told(kind);
    const answers = told === undefined ? [] : [{ requestId: 'r1', answer: told }];
    await vi.waitUntil(() => driver.answers.length === answers.length, PATIENCE);
    await expect(run.respond({ decision_id: 'dec_1', by: 'late', ...kind.yes })).rejects.toMatchObject({
      code: 'DECISION_CLOSED',
    });
    expect(driver.answers).toEqual(answers);
    await ended(harness);
  });
});

it('what follows a plan that was approved with a mode of the bridge is in that mode', async () => {
  const plan = kinds.find(({ rule }) => rule === 'auto-plan');
  if (plan === undefined) throw new Error('no plan among the kinds');
  for (const mode of ['auto', 'cautious'] as const) {
    const harness = await asked(plan, 'cautious');
    const { run } = harness;
    await run.respond({ decision_id: 'dec_1', verdict: 'allow', answers: { mode }, by: 'caller' });
    expect(run.record.permission_mode).toBe(mode);
    await ended(harness);
  }
});

it('a form that is declined denies, and tells the session that a person said no', async () => {
  const kind: Kind = { kind: 'permission', request: {}, ...plainYes };
  const harness = await asked(kind, 'cautious');
  const { run, driver } = harness;
  const person: Person = { answeredKeys: [], ask: async () => ({ kind: 'declined' }) };
  const outcome = await askPerson(
    run.record,
    { respond: (_id, answer) => run.respond(answer) },
    person,
    45_000,
  );
  expect(outcome).toBe('answered');
  const message = 'A person was asked, and declined this.';
  expect(driver.answers).toEqual([{ requestId: 'r1', answer: { verdict: 'deny', message } }]);
  expect(run.record.decisions).toMatchObject([
    { verdict: 'deny', answered_by: 'elicitation', reason: message },
  ]);
  await ended(harness);
});
