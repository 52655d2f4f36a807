import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { DockerEngine } from '../../../src/processes/docker/engine/docker-engine.js';
import { engineSettings } from '../../../src/services/engine-settings.js';
import { contextAt, startFakeEngine, writeContext } from '../../harness/fake-engine.js';
import { scratchFolder } from '../../processes/scratch-folder.js';

const pems = join(import.meta.dirname, '../../fixtures/engine-tls');
let homeDir: string;
let configDir: string;

beforeEach(async () => {
  homeDir = await scratchFolder();
  configDir = join(homeDir, '.docker');
  await mkdir(configDir);
});

const choose = (currentContext: string) =>
  writeFile(join(configDir, 'config.json'), JSON.stringify({ auths: {}, currentContext }));
const pem = (name: string) => readFile(join(pems, name));

/** What the engine that is found says to a ping, and where it is; or what is said instead. */
async function ask(env: Record<string, string> = {}) {
  const engine = new DockerEngine({ settings: found(env), clock: systemClock });
  try {
    const answer = await engine.call(async (client) => String(await client.ping()));
    if (answer.kind === 'value') return { answer: answer.value, words: (await engine.place()).words };
    if (answer.kind === 'unreachable') return { message: answer.fault.message, hint: answer.fault.hint };
    return answer;
  } finally {
    engine.dispose();
  }
}

/** The engine of the machine that runs the tests is none of theirs. */
function found(env: Record<string, string>) {
  const settings = engineSettings({ env, homeDir });
  return { ...settings, sockets: settings.sockets.filter((path) => path.startsWith(homeDir)) };
}

describe('the engine', () => {
  test('is that of DOCKER_HOST, else of DOCKER_CONTEXT, else of the current context, else at a usual socket', async () => {
    const hosts = await Promise.all(
      ['host', 'named', 'current'].map((name) => startFakeEngine(join(homeDir, name))),
    );
    const [host = '', named = '', current = ''] = hosts;
    await writeContext(configDir, { name: 'named', meta: contextAt(named) });
    await writeContext(configDir, { name: 'current', meta: contextAt(current) });
    await mkdir(join(homeDir, '.rd'));
    const usual = await startFakeEngine(join(homeDir, '.rd', 'docker.sock'));
    // A folder that an engine made where a socket was to be.
    await mkdir(join(homeDir, '.colima', 'default', 'docker.sock'), { recursive: true });

    expect(await ask()).toEqual({ answer: 'OK', words: `${usual} (a usual socket)` });
    await choose('current');
    const ofCurrent = { answer: 'OK', words: `${current} (the Docker context "current")` };
    expect(await ask()).toEqual(ofCurrent);
    const DOCKER_CONTEXT = 'named';
    expect(await ask({ DOCKER_CONTEXT })).toMatchObject({ words: `${named} (the Docker context "named")` });
    expect(await ask({ DOCKER_CONTEXT, DOCKER_HOST: host })).toMatchObject({
      words: `${host} (DOCKER_HOST)`,
    });
    expect(await ask({ DOCKER_CONTEXT: 'default' })).toMatchObject({ words: `${usual} (a usual socket)` });
    await writeFile(join(configDir, 'config.json'), '');
    expect(await ask()).toMatchObject({ words: `${usual} (a usual socket)` });
  });

  test('has its settings in the folder of DOCKER_CONFIG', async () => {
    const DOCKER_CONFIG = join(homeDir, 'elsewhere');
    const host = await startFakeEngine(join(homeDir, 'engine'));
    await writeContext(DOCKER_CONFIG, { name: 'far', meta: contextAt(host) });
    await choose('near');
    expect(await ask({ DOCKER_CONFIG, DOCKER_CONTEXT: 'far' })).toMatchObject({ answer: 'OK' });
  });

  test('is spoken to over TLS with the certificates of its context, or with none that is checked', async () => {
    const server = {
      cert: await pem('server-cert.pem'),
      key: await pem('server-key.pem'),
      ca: await pem('ca.pem'),
    };
    const strict = await startFakeEngine({ ...server, requestCert: true, rejectUnauthorized: true });
    const open = await startFakeEngine(server);
    const own = { 'cert.pem': await pem('cert.pem'), 'key.pem': await pem('key.pem') };
    const whole = { ...own, 'ca.pem': await pem('ca.pem') };
    await writeContext(configDir, { name: 'whole', meta: contextAt(strict), pem: whole });
    await writeContext(configDir, { name: 'no-ca', meta: contextAt(strict), pem: own });
    await writeContext(configDir, { name: 'ca', meta: contextAt(open), pem: { 'ca.pem': whole['ca.pem'] } });
    await writeContext(configDir, { name: 'unverified', meta: contextAt(open, true) });
    const asked = (DOCKER_CONTEXT: string) => ask({ DOCKER_CONTEXT });
    const words = `${strict.replace('tcp', 'https')} (the Docker context "whole")`;
    expect(await asked('whole')).toEqual({ answer: 'OK', words });
    expect(await asked('ca')).toMatchObject({ answer: 'OK' });
    expect(await asked('unverified')).toMatchObject({ answer: 'OK' });
    expect(await asked('no-ca')).toMatchObject({ message: expect.stringContaining('does not answer') });
  });
});

describe('an engine that is named and cannot be used is an error, whatever listens at a usual socket', () => {
  beforeEach(async () => {
    await mkdir(join(homeDir, '.rd'));
    await startFakeEngine(join(homeDir, '.rd', 'docker.sock'));
  });

  test('a context that does not exist, with the file and what to do', async () => {
    await choose('gone');
    expect(await ask()).toMatchObject({
      message: expect.stringMatching(
        /config\.json names the Docker context "gone", which does not exist: there is no .*meta\.json/,
      ),
      hint: expect.stringContaining('docker context use'),
    });
    expect(await ask({ DOCKER_CONTEXT: '../../x' })).toMatchObject({
      message: expect.stringContaining(
        'DOCKER_CONTEXT names the Docker context "../../x", which does not exist',
      ),
      hint: expect.stringContaining('to set DOCKER_CONTEXT to another context'),
    });
  });

  test.each([
    ['no JSON', '{"auths": "secret', /cannot be read from .*meta\.json: it is not JSON/],
    ['empty', '', /cannot be read from .*meta\.json: .*expected object/],
    ['without an engine', { Name: 'x', Endpoints: { kubernetes: {} } }, /expected object.*Endpoints\.docker/],
    ['without an address', contextAt(''), /Endpoints\.docker\.Host/],
    [
      'with the pipe of Windows',
      contextAt('npipe:////./pipe/docker_engine'),
      /\(the Docker context "x"\) cannot be used/,
    ],
    ['behind ssh', contextAt('ssh://me@box'), /the bridge opens no ssh connections/],
    [
      'with an engine that was stopped',
      contextAt('unix:///nowhere.sock'),
      /\(the Docker context "x"\) does not answer/,
    ],
  ])('a context that is %s', async (_what, meta, says) => {
    await writeContext(configDir, { name: 'x', meta });
    await choose('x');
    const said = await ask();
    expect(said).toMatchObject({
      message: expect.stringMatching(says),
      hint: expect.stringContaining('Ask the user'),
    });
    expect(JSON.stringify(said)).not.toContain('secret');
  });

  test.each(['{"auths": {"x": "secret', '{"currentContext": 7, "auths": "secret"}', '[]'])(
    'settings of Docker that cannot be read, without a word of what they hold: %s',
    async (text) => {
      const file = join(configDir, 'config.json');
      await writeFile(file, text);
      const said = await ask();
      expect(said).toMatchObject({ message: expect.stringContaining(`not known: ${file} cannot be read`) });
      expect(JSON.stringify(said)).not.toContain('secret');
    },
  );

  test('settings of Docker that are a folder', async () => {
    await mkdir(join(configDir, 'config.json'));
    expect(await ask()).toMatchObject({ message: expect.stringContaining('it is a folder') });
  });
});
