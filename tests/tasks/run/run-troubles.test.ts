import { describe, expect, it } from 'vitest';
import type { SessionEvent, TurnError } from '../../../src/claude/session.js';
import { createRun, type RunHarness } from '../run-harness.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** The clock of these tests begins with the epoch. */
const limit: TurnError = {
  kind: 'usage-limit',
  text: "You've hit your 5-hour limit · resets 12:30am (UTC)",
  resetsAtMs: HOUR_MS / 2,
};
const overloaded: TurnError = { kind: 'overloaded', text: 'API Error: 529 Overloaded' };

async function started(
  resume: boolean,
  spec: Parameters<typeof createRun>[0] = {},
): Promise<RunHarness & { readonly fail: (error: TurnError) => void; readonly sent: () => string[] }> {
  const harness = await createRun({
    ...spec,
    spec: { timeout_seconds: 7_200, ...spec.spec, settings: { resume_after_limit: resume } },
  });
  await harness.run.start();
  return {
    ...harness,
    fail: (error) => harness.driver.endTurn('', { error }),
    sent: () => harness.driver.told.filter((call) => call.startsWith('send ')),
  };
}

const turnStarts: SessionEvent = { type: 'turn-started', source: 'exact', prompt: 'Go on.' };
describe('a login that the API refuses', () => {
  const refused = (attempt: number): SessionEvent => ({
    type: 'retrying',
    kind: 'not-logged-in',
    text: 'API error (401) · retrying',
    delayMs: 500,
    attempt,
    source: 'exact',
  });

  it('ends the task at once, and says how to log in, once Claude Code has tried to renew it', async () => {
    const { run, driver } = await started(true);
    driver.fire(refused(1));
    driver.fire(refused(2));
    expect(run.record.status).toBe('running');
    driver.fire(refused(3));
    expect(driver.told.at(-1)).toBe('kill');
    driver.exit({ signal: 'SIGTERM' });
    const end = await run.ended;
    expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'not-logged-in', resumes_at: null } });
    expect(end.reason).toMatch(
      /Claude Code is not logged in.* Run `claude` once in a terminal and log in \(\/login\)/,
    );
  });
});

describe('a turn that a usage limit ends', () => {
  it('fails the task by default, with the kind, the time and what to do next', async () => {
    const { run, driver, fail, onDisk } = await started(false);
    fail(limit);
    expect(driver.told).toContain('close');
    driver.exit({ code: 1 });
    const end = await run.ended;
    expect(end).toMatchObject({
      status: 'failed',
      trouble: {
        kind: 'usage-limit',
        since: '1970-01-01T00:00:00.000Z',
        resumes_at: '1970-01-01T00:30:00.000Z',
      },
    });
    expect(end.reason).toMatch(
      /^Claude Code stopped: You've hit your 5-hour limit .* until 1970-01-01 00:30 UTC\. .*go on from it after the reset/,
    );
    expect(await onDisk()).toMatchObject({ trouble: { kind: 'usage-limit' } });
  });

  it('fails at once when the reset comes after the time limit, and says so', async () => {
    const { run, clock, driver, fail } = await started(true, { spec: { timeout_seconds: 3_600 } });
    clock.advance(50 * MINUTE_MS);
    fail({ ...limit, resetsAtMs: HOUR_MS });
    driver.exit({ code: 1 });
    const end = await run.ended;
    expect(end.status).toBe('failed');
    expect(end.reason).toContain("after the end of the task's time limit of 3600 seconds");
  });

  it('fails when nobody said until when', async () => {
    const { run, driver, fail } = await started(true);
    fail({ kind: 'usage-limit', text: "You've hit your monthly spend limit." });
    driver.exit({ code: 1 });
    const end = await run.ended;
    expect(end.reason).toContain('not told until when');
    expect(end.trouble).toMatchObject({ resumes_at: null });
  });

  it('that is still there waits longer each time, and no longer than the time limit', async () => {
    const { run, clock, driver, fail, sent } = await started(true, { spec: { timeout_seconds: 600 } });
    const past: TurnError = { ...limit, resetsAtMs: -HOUR_MS };
    fail(past);
    clock.advance(5_000);
    expect(sent()).toHaveLength(1);
    driver.fire(turnStarts);
    fail(past);
    expect(run.record.trouble?.resumes_at).toBe('1970-01-01T00:01:05.000Z');
    clock.advance(MINUTE_MS);
    driver.fire(turnStarts);
    fail(past);
    expect(run.record.trouble?.resumes_at).toBe('1970-01-01T00:03:05.000Z');
    clock.advance(2 * MINUTE_MS);
    driver.fire(turnStarts);
    fail(past);
    clock.advance(5 * MINUTE_MS);
    driver.fire(turnStarts);
    fail(past);
    driver.exit({ code: 1 });
    expect((await run.ended).reason).toContain('time limit of 600 seconds');
  });

  it('lets a message of the caller try at once', async () => {
    const { run, driver, fail, clock, sent } = await started(true);
    fail(limit);
    await run.message({ text: 'Another account is logged in: go on.' });
    driver.fire(turnStarts);
    expect(run.record).toMatchObject({ status: 'running', trouble: null });
    clock.advance(40 * MINUTE_MS);
    expect(sent()).toEqual(['send Another account is logged in: go on.']);
  });

  it('is no success when the session is ended meanwhile, whatever its exit code', async () => {
    const { run, driver, fail } = await started(true);
    fail(limit);
    driver.exit({ code: 0 });
    const end = await run.ended;
    expect(end.status).toBe('failed');
    expect(end.reason).toContain('ended while the task waited');
  });
});

describe('an API that is overloaded or cannot be reached', () => {
  it('is tried again after a minute, where the setting says so', async () => {
    const { run, clock, driver, fail, sent } = await started(true);
    fail(overloaded);
    expect(run.record).toMatchObject({
      status: 'waiting',
      trouble: { resumes_at: '1970-01-01T00:01:00.000Z' },
    });
    clock.advance(MINUTE_MS);
    expect(sent()).toHaveLength(1);
    driver.fire(turnStarts);
    fail(overloaded);
    expect(run.record.trouble?.resumes_at).toBe('1970-01-01T00:03:00.000Z');
    clock.advance(2 * MINUTE_MS);
    driver.fire(turnStarts);
    driver.fire({ type: 'said', text: 'It answers.' });
    fail(overloaded);
    expect(run.record.trouble?.resumes_at).toBe('1970-01-01T00:04:00.000Z');
  });
});

describe('trouble that is not waited for', () => {
  it.each([
    ['overloaded', false, 'overloaded'],
    ['network', false, 'cannot be reached'],
    ['rate-limit', false, 'limiting the requests'],
    ['not-logged-in', true, '/login'],
    ['context-full', true, 'Start a new session'],
    ['no-credit', true, 'Add credit'],
  ] as const)('fails the task, and says what to do: %s', async (kind, resume, words) => {
    const { run, driver, fail } = await started(resume);
    fail({ kind, text: 'The words of the CLI' });
    driver.exit({ code: 1 });
    const end = await run.ended;
    expect(end).toMatchObject({ status: 'failed', trouble: { kind, resumes_at: null } });
    expect(end.reason).toMatch(/^Claude Code stopped: The words of the CLI\. /);
    expect(end.reason).toContain(words);
  });
});
