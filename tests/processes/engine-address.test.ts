import { describe, expect, test } from 'vitest';
import {
  addressText,
  isLocal,
  parseEngineAddress,
  type EngineSettings,
} from '../../src/processes/docker/engine/engine-address.js';

const plain: EngineSettings = { host: null, certPath: null, tlsVerify: false };

function addressOf(text: string, settings: Partial<EngineSettings> = {}) {
  const parsed = parseEngineAddress(text, { ...plain, ...settings });
  if (parsed.kind === 'fault') throw new Error(parsed.words);
  return parsed.address;
}

describe('the address of an engine', () => {
  test.each([
    ['unix:///run/user/1000/docker.sock', { kind: 'socket', path: '/run/user/1000/docker.sock' }],
    ['tcp://box:2375', { kind: 'tcp', host: 'box', port: 2375, isTls: false }],
    ['tcp://box', { kind: 'tcp', host: 'box', port: 2375, isTls: false }],
    ['box:2376', { kind: 'tcp', host: 'box', port: 2376, isTls: true }],
    ['https://box', { kind: 'tcp', host: 'box', port: 2376, isTls: true }],
    ['tcp://[::1]:99', { kind: 'tcp', host: '::1', port: 99, isTls: false }],
    ['ssh://me@box:2222', { kind: 'ssh', host: 'box', port: 2222, user: 'me' }],
    ['ssh://box', { kind: 'ssh', host: 'box' }],
  ])('is read from %s', (text, address) => {
    expect(addressOf(text)).toEqual(address);
  });

  test('is spoken to over TLS when that is asked for', () => {
    expect(addressOf('tcp://box', { tlsVerify: true, certPath: '/certs' })).toEqual({
      ...{ kind: 'tcp', host: 'box', port: 2376, isTls: true },
      certPath: '/certs',
    });
  });

  test.each(['', 'unix://', 'docker', 'npipe:////./pipe/docker_engine', 'ssh://', 'ftp://x'])(
    'is refused with what would be right: %j',
    (text) => {
      expect(parseEngineAddress(text, plain)).toEqual({
        kind: 'fault',
        words: `found ${JSON.stringify(text)}, expected "unix:///path", "tcp://host:port" or "ssh://user@host"`,
      });
    },
  );

  test('tells whether the engine sees the files of this machine', () => {
    const local = ['unix:///s', 'tcp://localhost:1', 'tcp://127.0.0.1:1', 'tcp://[::1]:1'];
    const far = ['tcp://10.0.0.1:1', 'ssh://localhost', 'tcp://localhost.example:1'];
    expect([...local, ...far].map((text) => isLocal(addressOf(text)))).toEqual([
      ...local.map(() => true),
      ...far.map(() => false),
    ]);
  });

  test('is shown as it is written', () => {
    for (const text of ['unix:///s', 'tcp://box:2375', 'https://box:2376', 'ssh://me@box:22', 'ssh://box'])
      expect(addressText(addressOf(text))).toBe(text);
  });
});
