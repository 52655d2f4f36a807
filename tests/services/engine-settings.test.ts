import { expect, test } from 'vitest';
import { engineSettings } from '../../src/services/engine-settings.js';

const homeDir = '/home/me';

test('the address, certificates, TLS and the context come from Docker’s own variables', () => {
  const env = {
    ...{ DOCKER_HOST: 'tcp://build:2376', DOCKER_TLS_VERIFY: '1' },
    ...{ DOCKER_CONTEXT: 'colima', DOCKER_CONFIG: '~/docker', XDG_RUNTIME_DIR: '/run/user/1' },
  };
  expect(engineSettings({ env, homeDir })).toEqual({
    host: 'tcp://build:2376',
    tlsVerify: true,
    context: 'colima',
    configDir: '/home/me/docker',
    sockets: [
      '/var/run/docker.sock',
      '/home/me/.docker/run/docker.sock',
      '/home/me/.docker/desktop/docker.sock',
      '/run/user/1/docker.sock',
      '/home/me/.colima/default/docker.sock',
      '/home/me/.rd/docker.sock',
      '/run/user/1/podman/podman.sock',
      '/home/me/.local/share/containers/podman/machine/podman.sock',
    ],
  });
});
