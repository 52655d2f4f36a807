import { describe, expect, test } from 'vitest';
import {
  addressText,
  isLocal,
  parseEngineAddress,
  usualSockets,
} from '../../src/processes/docker/engine/engine-address.js';

function addressOf(text: string, isAsked = false) {
  const parsed = parseEngineAddress(text, isAsked);
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
  ])('is read from %s', (text, address) => {
    expect(addressOf(text)).toEqual(address);
  });

  test('is spoken to over TLS when that is asked for, but not through a socket', () => {
    expect(addressOf('tcp://box', true)).toEqual({ kind: 'tcp', host: 'box', port: 2376, isTls: true });
    expect(addressOf('unix:///s', true)).toEqual({ kind: 'socket', path: '/s' });
  });

  test.each(['', 'unix://', 'docker', 'npipe:////./pipe/docker_engine', 'ssh://', 'fd://3', 'ftp://x'])(
    'is refused with what would be right: %j',
    (text) => {
      expect(parseEngineAddress(text, false)).toEqual({
        kind: 'fault',
        words: `found ${JSON.stringify(text)}, expected "unix:///path" or "tcp://host:port"`,
      });
    },
  );

  test.each(['ssh://box', 'ssh://me@box:2222', 'ssh://me@box/run/docker.sock'])(
    'is refused behind ssh, with the command that forwards its socket: %s',
    (text) => {
      const parsed = parseEngineAddress(text, false);
      expect(parsed).toMatchObject({ kind: 'fault', words: expect.stringContaining('no ssh connections') });
      const target = text.replace('/run/docker.sock', '');
      const forward = `ssh -N -L /tmp/docker.sock:/var/run/docker.sock ${target}\``;
      expect(parsed).toMatchObject({ hint: expect.stringContaining(forward) });
    },
  );

  test('tells whether the engine sees the files of this machine', () => {
    const local = ['unix:///s', 'tcp://localhost:1', 'tcp://127.0.0.1:1', 'tcp://[::1]:1'];
    const far = ['tcp://10.0.0.1:1', 'tcp://localhost.example:1'];
    expect([...local, ...far].map((text) => isLocal(addressOf(text)))).toEqual([
      ...local.map(() => true),
      ...far.map(() => false),
    ]);
  });

  test('is shown as it is written', () => {
    for (const text of ['unix:///s', 'tcp://box:2375', 'https://box:2376'])
      expect(addressText(addressOf(text))).toBe(text);
  });
});

test('the usual sockets are those of the system, then of the programs in the user’s home, as far as folders are known', () => {
  const env = { XDG_RUNTIME_DIR: '/run/user/1', TMPDIR: '/var/t/' };
  expect(usualSockets('/home/me', env)).toEqual([
    '/var/run/docker.sock',
    '/home/me/.docker/run/docker.sock',
    '/home/me/.docker/desktop/docker.sock',
    '/run/user/1/docker.sock',
    '/home/me/.colima/default/docker.sock',
    '/home/me/.rd/docker.sock',
    '/run/user/1/podman/podman.sock',
    '/home/me/.local/share/containers/podman/machine/podman.sock',
    '/var/t/podman/podman-machine-default-api.sock',
  ]);
  expect(usualSockets('/home/me', { XDG_RUNTIME_DIR: '' })).toHaveLength(6);
});
