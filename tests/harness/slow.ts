import { availableParallelism } from 'node:os';

/** How much longer than on two cores a wait may take; set `SLOW` on a machine that is slower for another reason. */
export const SLOW = Number(process.env['SLOW'] ?? (availableParallelism() < 2 ? 2 : 1));
