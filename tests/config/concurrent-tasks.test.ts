import { expect, it } from 'vitest';
import { concurrentTasks } from '../../src/config/concurrent-tasks.js';

const GIGABYTE = 1024 ** 3;

it.each([
  [0, 2, 24, 20],
  [0, 16, 16, 16],
  [0, 64, 512, 64],
  [0, 1, 1, 2],
  [3, 64, 512, 3],
])('a setting of %i on %i cores with %i GB is %i tasks at once', (setting, cores, gigabytes, tasks) => {
  expect(concurrentTasks(setting, { cores, memoryBytes: gigabytes * GIGABYTE })).toBe(tasks);
});
