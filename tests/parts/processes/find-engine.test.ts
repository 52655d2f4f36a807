import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { BridgeError } from '../../../src/base/errors.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { DockerEngine } from '../../../src/processes/docker/engine.js';
import { engineSettings } from '../../../src/services/engine-settings.js';
import { startFakeEngine, writeContext } from '../../harness/fake-engine.js';
import { tempFolder } from '../../harness/temp-folder.js';

const certificates = join(import.meta.dirname, '../../fixtures/engine-tls');
const pem = (name: string) => readFileSync(join(certificates, `${name}.pem`));
let homeDir: string;
let configDir: string;
let config: string;

beforeEach(async () => {
  homeDir = await tempFolder();
  configDir = join(homeDir, '.docker');
  config = join(configDir, 'config.json');
  await mkdir(configDir);
});

/** Where the engine is that answered; else the error, as a caller reads it. */
async function ask(env: Record<string, string> = {}): Promise<string> {
  const settings = engineSettings({ env, homeDir });
  // The engine of the machine that runs the tests is none of theirs.
  const sockets = settings.sockets.filter((path) => path.startsWith(homeDir));
  const engine = new DockerEngine({ settings: { ...settings, sockets }, clock: systemClock });
  try {
    await engine.call('to answer', (client) => client.ping());
    return (await engine.place()).words;
  } catch (error) {
    return error instanceof BridgeError ? `${error.message} ${error.hint}` : String(error);
  } finally {
    engine.dispose();
  }
}

test('the engine is that of DOCKER_HOST, else of DOCKER_CONTEXT, else of the current context, else at a usual socket', async () => {
  const [DOCKER_HOST = '', named = '', current = '', usual = ''] = await Promise.all(
    ['host', 'named', 'current', '.rd/docker.sock'].map((path) => startFakeEngine(join(homeDir, path))),
  );
  await writeContext(configDir, 'named', { Host: named });
  await writeContext(join(homeDir, 'other'), 'current', { Host: current });
  // An engine makes such a folder where it is to mount a socket that is not there.
  await mkdir(join(homeDir, '.colima', 'default', 'docker.sock'), { recursive: true });
  expect(await ask()).toBe(`${usual} (a usual socket)`);
  await writeFile(config, '');
  expect(await ask()).toBe(`${usual} (a usual socket)`);
  await writeFile(config, '{"auths": {}, "currentContext": "named"}');
  expect(await ask()).toBe(`${named} (the Docker context "named")`);
  expect(await ask({ DOCKER_CONTEXT: 'default' })).toBe(`${usual} (a usual socket)`);
  const other = { DOCKER_CONTEXT: 'current', DOCKER_CONFIG: '~/other' };
  expect(await ask(other)).toBe(`${current} (the Docker context "current")`);
  expect(await ask({ ...other, DOCKER_HOST })).toBe(`${DOCKER_HOST} (DOCKER_HOST)`);
});

test('an engine that DOCKER_HOST names is spoken to over TLS, with DOCKER_CERT_PATH', async () => {
  const server = { cert: pem('server-cert'), key: pem('server-key'), ca: pem('ca') };
  const strict = await startFakeEngine({ ...server, requestCert: true, rejectUnauthorized: true });
  const host = { DOCKER_HOST: strict, DOCKER_TLS_VERIFY: '1' };
  onTestFinished(() => void vi.unstubAllEnvs());
  // The certificates are read by the client of the engine.
  const given = (folder: string): void => {
    vi.stubEnv('DOCKER_HOST', strict);
    vi.stubEnv('DOCKER_CERT_PATH', folder);
  };
  const words = `${strict.replace('tcp', 'https')} (DOCKER_HOST)`;
  expect(await ask(host)).toContain('does not answer');
  given(certificates);
  expect(await ask(host)).toBe(words);
  given('/nowhere');
  expect(await ask(host)).toMatch(/cannot be asked: .*\/nowhere/);
});

test('a context that speaks TLS is refused with the variables that do', async () => {
  await writeContext(configDir, 'tls', { Host: 'tcp://box:1' }, { 'ca.pem': pem('ca') });
  const says = /speaks TLS.*DOCKER_HOST=tcp:\/\/box:1, DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH/;
  expect(await ask({ DOCKER_CONTEXT: 'tls' })).toMatch(says);
});

const x = (Host: string) => ({ Host });
test.each([
  [
    'is gone',
    undefined,
    /config\.json names the .* "x", which cannot be read from .*meta\.json: there is no.*`docker context use`/,
  ],
  [
    'is no JSON',
    '{"auths": "secret',
    /cannot be read from .*meta\.json: it is not JSON.*`docker context create`/,
  ],
  ['has no address', x(''), /Endpoints\.docker\.Host/],
  [
    'is for Windows',
    x('npipe:////./pipe/docker_engine'),
    /\(the Docker context "x"\) cannot be used: found "npipe:/,
  ],
  ['is behind ssh', x('ssh://me@box'), /no ssh connections.* `ssh -N -L .*ssh:\/\/me@box`/],
  [
    'was stopped',
    x('unix:///nowhere.sock'),
    /\(the Docker context "x"\) does not answer.*choose another context/,
  ],
])('a current context that %s is an error, whatever listens at a usual socket', async (_what, meta, says) => {
  await startFakeEngine(join(homeDir, '.rd/docker.sock'));
  await writeFile(config, '{"currentContext": "x"}');
  if (meta !== undefined) await writeContext(configDir, 'x', meta);
  expect(await ask()).toMatch(says);
  expect(await ask()).not.toContain('secret');
});

test('a name that DOCKER_CONTEXT gives is never a path, and the hint names the variable', async () => {
  const says =
    /DOCKER_CONTEXT names the Docker context "\.\.\/x", which cannot be read.*to set DOCKER_CONTEXT to another/;
  expect(await ask({ DOCKER_CONTEXT: '../x' })).toMatch(says);
});

test.each(['{"auths": {"x": "secret', '{"currentContext": 7, "auths": "secret"}', '["secret"]', undefined])(
  'settings of Docker that cannot be read are an error without a word of what they hold: %s',
  async (text) => {
    await (text === undefined ? mkdir(config) : writeFile(config, text));
    expect(await ask()).toContain(`The current Docker context is not known: ${config} cannot be read (`);
    expect(await ask()).not.toContain('secret');
  },
);

test.each([
  ['tcp://localhost:1', true],
  ['tcp://[::1]:1', true],
  ['tcp://localhost.example:1', false],
])('whether the engine at %s sees the folders of this machine is known: %s', async (host, isLocal) => {
  const settings = engineSettings({ env: { DOCKER_HOST: host }, homeDir });
  expect(await new DockerEngine({ settings, clock: systemClock }).place()).toMatchObject({ isLocal });
});
