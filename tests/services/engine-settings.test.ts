import { expect, test } from 'vitest';
import { engineSettings } from '../../src/services/engine-settings.js';

const homeDir = '/home/me';

test('the address, certificates and TLS come from Docker’s own variables', () => {
  const env = { DOCKER_HOST: 'tcp://build:2376', DOCKER_CERT_PATH: '~/certs', DOCKER_TLS_VERIFY: '1' };
  expect(engineSettings({ env, homeDir })).toEqual({
    host: 'tcp://build:2376',
    certPath: '/home/me/certs',
    tlsVerify: true,
  });
});

test('an empty variable of Docker is one that is not set', () => {
  const unset = { host: null, certPath: null, tlsVerify: false };
  expect(engineSettings({ env: {}, homeDir })).toEqual(unset);
  expect(
    engineSettings({ env: { DOCKER_HOST: '', DOCKER_CERT_PATH: '', DOCKER_TLS_VERIFY: '' }, homeDir }),
  ).toEqual(unset);
});
