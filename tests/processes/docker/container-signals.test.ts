import { expect, it } from 'vitest';
import { wasSent } from '../../../src/processes/docker/container-signals.js';

it.each([
  { what: 'ended by itself', exitCode: 0, stdout: '\n', isSent: true },
  { what: 'was ended with the container that its signal ended', exitCode: 137, stdout: '\n', isSent: true },
  { what: 'was ended before it came to it', exitCode: 137, stdout: '', isSent: false },
  { what: 'was refused by the kernel', exitCode: 1, stdout: '\n', isSent: false },
  { what: 'could not be started', exitCode: 127, stdout: '', isSent: false },
])('a signal from inside a container, whose shell $what: sent $isSent', ({ exitCode, stdout, isSent }) => {
  expect(wasSent({ exitCode, stdout })).toBe(isSent);
});
