import { expect, test } from 'vitest';
import { leave, race, raceableSessions } from '../../harness/raced-sessions.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { seededRandom } from '../../harness/seeded-random.js';

/** The long form answers a hundred. */
const PROMPTS_EACH = process.env['SOAK'] === '1' ? 20 : 2;
const SEED = Number(process.env['SOAK_SEED'] ?? 1);

describeNewestClaude('sessions of every kind', ({ binary }) => {
  test(
    'show each request to the bridge, and each is decided once, by who was first',
    { timeout: 600_000 },
    async () => {
      const opened: string[] = [];
      const { bridge, sessions, askedMs } = await raceableSessions(binary, PROMPTS_EACH, {
        on: (name) => void opened.push(name),
      });
      expect(opened).toEqual(['plain', 'resumed', 'forked', 'worktree', 'background']);
      const random = seededRandom(SEED);
      const results = await Promise.all(
        sessions.map((session) => race(bridge, session, askedMs, { promptsEach: PROMPTS_EACH, random })),
      );
      expect(results.flatMap(({ faults }) => faults)).toEqual([]);
      const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
      // The first of each session waited until all were there.
      const words = (of: 'shownMs' | 'sinceModelMs') => {
        const sorted = results.flatMap((result) => result[of].slice(1)).sort((a, b) => a - b);
        const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
        return `${at(0.5)} ms (half), ${at(0.95)} ms (95 %), ${at(1)} ms (all)`;
      };
      process.stderr.write(
        `requests: shown after ${words('shownMs')}; since the model's answer ${words('sinceModelMs')}; ` +
          `first was the terminal ${sum(results.map(({ byTerminal }) => byTerminal))} times, ` +
          `the bridge ${sum(results.map(({ byCaller }) => byCaller))} times\n`,
      );
      for (const session of sessions) await leave(bridge, session);
    },
  );
});
