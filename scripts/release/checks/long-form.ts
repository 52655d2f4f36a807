import { longParts } from '../../check/long-parts.js';
import { resultFaults } from '../../check/results.js';
import type { Check } from './check.js';

/** Whether the gate and every part of the long form were green for this commit, with nothing left out. */
export const checkLongForm: Check = async ({ project }) =>
  resultFaults(project.root, ['check', ...longParts.map(({ name }) => name)]);
