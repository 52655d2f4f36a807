import { expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { engineSettings } from '../../src/services/engine-settings.js';

const homeDir = '/home/me';
const config = configSchema.parse({ docker_host: 'tcp://build:2376' });

test('certificates and TLS come from Docker’s own variables', () => {
  const env = { DOCKER_CERT_PATH: '~/certs', DOCKER_TLS_VERIFY: '1' };
  expect(engineSettings({ config, env, homeDir })).toEqual({
    host: 'tcp://build:2376',
    certPath: '/home/me/certs',
    tlsVerify: true,
  });
});

test('an empty variable of Docker is one that is not set', () => {
  const unset = { host: 'tcp://build:2376', certPath: null, tlsVerify: false };
  expect(engineSettings({ config, env: {}, homeDir })).toEqual(unset);
  expect(engineSettings({ config, env: { DOCKER_CERT_PATH: '', DOCKER_TLS_VERIFY: '' }, homeDir })).toEqual(
    unset,
  );
});
