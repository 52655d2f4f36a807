import { expect, it } from 'vitest';
import { faultRounds } from '../soak/fault-rounds.js';

/** The long form, every call of the keeper and of the server, is `npm run test:soak`. */
const STEP = 4;

it.each(['open', 'write', 'fsync', 'rename', 'link'] as const)(
  'whichever %s of a keeper fails once, its task is refused with words or has one true end',
  async (kind) => {
    expect(await faultRounds('keeper', kind, STEP)).toBeGreaterThan(0);
  },
);
