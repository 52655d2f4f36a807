import { expect, test } from 'vitest';
import { inboxAddressIn } from '../../src/caller/inbox-address.js';

const token = '0123456789abcdef0123456789abcdef';

function addressIn(path: string, given = token): ReturnType<typeof inboxAddressIn> {
  return inboxAddressIn({ CLAUDE_CODE_MESSAGING_SOCKET: path, CLAUDE_CODE_MESSAGING_TOKEN: given });
}

test.each([
  '/tmp/cc-socks/4711.sock',
  '/run/user/1/cc-socks/4711.sock',
  '/tmp/cc-socks-1/4711-0a1b2c3d.sock',
])('%s is the socket of the process in its name', (socketPath) =>
  expect(addressIn(socketPath)).toEqual({ socketPath, token, pid: 4711 }),
);

test.each([
  'cc-socks/4711.sock',
  '/tmp/4711.sock',
  '/tmp/cc-socks/../other/4711.sock',
  '/tmp/cc-socks/1.sock',
  '/tmp/cc-socks/docker.sock',
  '/tmp/cc-socks/4711.sock.old',
  '/var/run/docker.sock',
  '',
])('"%s" is none', (path) => expect(addressIn(path)).toBeUndefined());

test('a socket without its token is none', () => {
  expect(addressIn('/tmp/cc-socks/4711.sock', 'short')).toBeUndefined();
  expect(inboxAddressIn({ CLAUDE_CODE_MESSAGING_SOCKET: '/tmp/cc-socks/4711.sock' })).toBeUndefined();
  expect(inboxAddressIn({})).toBeUndefined();
});
