import { expect, it } from 'vitest';
import { faultKinds, faultRounds } from '../../harness/fault-rounds.js';

/** Some thirty short tasks, each of which takes a second or more on a busy machine. */
const LIMIT_MS = 400_000;

/** Every fourth call fails; the long form takes each. */
const STEP = process.env['SOAK'] === '1' ? 1 : 4;

const kinds = ['open', 'write', 'fsync', 'rename'] as const;
const cases = (['keeper', 'server'] as const).flatMap((program) =>
  // A lease is a symbolic link, and the server takes it.
  [...kinds, ...(program === 'server' ? (['symlink'] as const) : [])].map((kind) => ({ program, kind })),
);

it.each(cases)(
  'whichever $kind of a $program fails once, its task is refused with words or has one true end',
  { timeout: LIMIT_MS },
  async ({ program, kind }) => {
    const hits = await faultRounds(program, kind, STEP);
    process.stderr.write(`${program}: ${hits} calls of ${kind}, each failed once with ${faultKinds[kind]}\n`);
    expect(hits).toBeGreaterThan(0);
  },
);
