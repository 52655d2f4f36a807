import { expect, test } from 'vitest';
import { containerOptions } from '../../../../src/processes/docker/container-options.js';

const spec = { id: 'proc_1', command: ['true'], image: 'busybox', cwd: '/home/agent', env: {} } as const;

test('the mapping of users is that of the engine: no container asks for the users of the machine', () => {
  const { HostConfig } = containerOptions(spec, { name: 'n', labels: {}, volume: { name: 'v', labels: {} } });
  expect(HostConfig).not.toHaveProperty('UsernsMode');
  expect(HostConfig).not.toHaveProperty('Privileged');
});
