import { expect, test } from 'vitest';
import { inboxAddressIn, takesMessages } from '../../src/native/inbox-address.js';

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

test.each(['2.1.330', '2.1.331', '2.2.0', '3.0.0', '2.1.330-beta.1'])(
  'a Claude Code %s takes messages',
  (version) => expect(takesMessages({ name: 'claude-code', version })).toBe(true),
);

test.each(['2.1.329', '2.0.999', '1.9.999', '', 'new', '2.1', '2.1.330.1'])(
  'a Claude Code "%s" takes none',
  (version) => expect(takesMessages({ name: 'claude-code', version })).toBe(false),
);

test.each(['cursor', 'Claude-Code', 'claude-code-fork', ''])('the client "%s" takes none', (name) =>
  expect(takesMessages({ name, version: '2.1.330' })).toBe(false),
);
