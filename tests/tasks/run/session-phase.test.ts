import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import type { SessionEvent } from '../../../src/claude/session.js';
import type { Disposable } from '../../../src/base/lifecycle.js';
import { createRun, type RunHarness } from '../run-harness.js';
import { rounds } from '../../harness/rounds.js';

/** What may happen to a run, in any order. */
const happenings: Readonly<Record<string, (harness: RunHarness, people: Disposable[]) => unknown>> = {
  'a turn starts': ({ driver }) => driver.fire({ type: 'turn-started', source: 'exact', prompt: 'Go on.' }),
  'a turn ends': ({ driver }) => driver.endTurn('Done.'),
  'a turn ends, work goes on': ({ driver }) => driver.endTurn('Done.', { backgroundTasks: 1 }),
  'a turn is interrupted': ({ driver }) => driver.endTurn('', { interrupted: true }),
  'a turn ends by trouble': ({ driver }) =>
    driver.endTurn('', { error: { kind: 'overloaded', text: '529 Overloaded' } }),
  'it tries again': ({ driver }) => driver.fire(retrying),
  'it says something': ({ driver }) => driver.fire({ type: 'said', text: 'Hm.' }),
  'it asks': ({ driver }) => driver.ask({ requestId: 'request' }),
  'it asks no more': ({ driver }) => driver.fire({ type: 'request-gone', requestId: 'request' }),
  'it resumes': ({ driver }) => driver.fire({ type: 'spawned', pid: undefined }),
  'a message': ({ run }) => run.message({ text: 'more' }),
  'an interrupt': ({ run }) => run.message({ interrupt: true }),
  'nothing is taken': ({ driver }) => (driver.refusals = 2),
  'a person comes': ({ run }, people) => people.push(run.hold()),
  'a person goes': (_, people) => people.pop()?.dispose(),
  'ten seconds': ({ clock }) => clock.advance(10_000),
  'a minute': ({ clock }) => clock.advance(60_000),
  'an hour': ({ clock }) => clock.advance(3_600_000),
  'a kill': ({ run }) => void run.kill('by hand'),
};
const retrying: SessionEvent = {
  type: 'retrying',
  kind: 'overloaded',
  text: 'API error · retrying',
  attempt: 1,
  delayMs: 8_000,
  source: 'exact',
};

it('whatever happens to a session, in whatever order, the moves of its phase are allowed and it has its end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(happenings)), { maxLength: 25 }),
      fc.boolean(),
      async (names, keepOpen) => {
        const harness = await createRun({
          spec: { keep_open: keepOpen, timeout_seconds: 7_200, settings: { resume_after_limit: true } },
        });
        const { run, driver } = harness;
        const people: Disposable[] = [];
        await run.start();
        for (const name of names) {
          await Promise.resolve(happenings[name]?.(harness, people)).catch(refusedAsEnding);
          expect(['running', 'waiting']).toContain(run.record.status);
          if (run.record.decisions.some(({ closed_at }) => closed_at === null))
            expect(run.record.status).toBe('waiting');
        }
        const ended = run.kill('at last');
        driver.exit({ signal: 'SIGTERM' });
        const { status, reason, decisions } = await ended;
        // An illegal move ends a task as `error`.
        expect(['completed', 'failed', 'timeout', 'killed'], reason).toContain(status);
        expect(decisions.filter(({ closed_at }) => closed_at === null)).toEqual([]);
      },
    ),
    { numRuns: rounds(60) },
  );
});

/** A caller is told when a session is being left, and when too many messages wait. */
function refusedAsEnding(error: unknown): void {
  if (!(error instanceof BridgeError)) throw error;
  expect(['TASK_NOT_RUNNING', 'INVALID_ARGUMENTS']).toContain(error.code);
}
