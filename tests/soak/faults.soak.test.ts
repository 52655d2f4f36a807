import { expect, it } from 'vitest';
import { faultKinds, faultRounds } from './fault-rounds.js';

const cases = [
  ...(['open', 'write', 'fsync', 'rename', 'link'] as const).map(
    (kind) => ({ program: 'keeper', kind }) as const,
  ),
  ...(['open', 'write', 'fsync', 'rename', 'link'] as const).map(
    (kind) => ({ program: 'server', kind }) as const,
  ),
];

it.each(cases)(
  'whichever $kind of a $program fails once, its task has a true end',
  async ({ program, kind }) => {
    const hits = await faultRounds(program, kind, 1);
    process.stdout.write(`${program}: ${hits} calls of ${kind}, each failed once with ${faultKinds[kind]}\n`);
    expect(hits).toBeGreaterThan(0);
  },
);
