import { chmod, mkdir, symlink } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inboxAddressIn, sessionInbox, takesMessages } from '../../src/native/session-inbox.js';
import { pidOf } from '../../src/os/pid.js';
import type { ProcessTable } from '../../src/os/process-table.js';
import { thisMachine } from '../../src/os/process-system.js';
import { until } from '../harness/until.js';
import { tempFolder } from '../harness/temp-folder.js';

const token = '0123456789abcdef0123456789abcdef';
const sessionId = 's';

/** A socket as Claude Code has one, of the process that runs this test. */
async function inbox({ mode = 0o600, folderMode = 0o700, linked = false } = {}) {
  const root = await tempFolder();
  const folder = join(root, 'cc-socks');
  await mkdir(folder);
  const real = join(folder, linked ? 'real.sock' : `${process.pid}.sock`);
  const socketPath = join(folder, `${process.pid}.sock`);
  const received: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString()));
    socket.on('end', () => {
      received.push(text);
      socket.end();
    });
  });
  server.listen(real);
  await once(server, 'listening');
  if (linked) await symlink(real, socketPath);
  await chmod(real, mode);
  await chmod(folder, folderMode);
  onTestFinished(() => void server.close());
  const address = { socketPath, token, pid: process.pid };
  return { address, received };
}

/** A table in which `ownPid` is a child of this process. */
const ownPid = 99_999_999;
const child: ProcessTable = {
  ...thisMachine.source,
  table: async () => {
    const all = await thisMachine.source.table();
    const self = all.find(({ pid }) => pid === process.pid);
    const [pid, parentPid] = [pidOf(ownPid), pidOf(process.pid)];
    return self === undefined || pid === undefined ? all : [...all, { ...self, pid, parentPid }];
  },
};

test('a message reaches the session behind its token, and nothing else goes along', async () => {
  const { address, received } = await inbox();
  const one = sessionInbox(address, { table: child, ownPid });
  await one.send({ text: 'a\n"b"', sessionId });
  await one.send({ text: 'c', sessionId });
  await until('both have arrived', () => received.length === 2);
  expect(
    received.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ),
  ).toEqual([
    [
      { type: 'auth', token },
      { type: 'user', message: { role: 'user', content: 'a\n"b"' }, priority: 'next', session_id: 's' },
    ],
    [
      { type: 'auth', token },
      { type: 'user', message: { role: 'user', content: 'c' }, priority: 'next', session_id: 's' },
    ],
  ]);
});

test.each([
  ['that others may write to', { mode: 0o666 }, 'not a socket of this user alone'],
  ['that is a link', { linked: true }, 'not a socket of this user alone'],
  ['in a folder in which others may replace it', { folderMode: 0o777 }, 'others may replace'],
] as const)('nothing is written to a socket %s', async (_what, how, why) => {
  const { address, received } = await inbox(how);
  const sending = sessionInbox(address, { table: child, ownPid }).send({ text: 'a', sessionId });
  await expect(sending).rejects.toThrow(why);
  expect(received).toEqual([]);
});

test('nothing is written to the socket of a process that did not start this one', async () => {
  const { address, received } = await inbox();
  const sending = sessionInbox(address, { table: thisMachine.source, ownPid: 1 }).send({
    text: 'a',
    sessionId,
  });
  await expect(sending).rejects.toThrow('belongs to no process that started this server');
  expect(received).toEqual([]);
});

test('nothing is written when the pid has become that of another process', async () => {
  const { address, received } = await inbox();
  let started = '1';
  const table: ProcessTable = {
    ...child,
    find: async (pids) => (await child.find(pids)).map((one) => ({ ...one, startId: started })),
  };
  const one = sessionInbox(address, { table, ownPid });
  await one.send({ text: 'a', sessionId });
  started = '2';
  await expect(one.send({ text: 'b', sessionId })).rejects.toThrow('another process than before');
  await until('it has arrived', () => received.length === 1);
});

function addressIn(path: string, given = token): ReturnType<typeof inboxAddressIn> {
  return inboxAddressIn({ CLAUDE_CODE_MESSAGING_SOCKET: path, CLAUDE_CODE_MESSAGING_TOKEN: given });
}

test.each([
  'cc-socks/4711.sock',
  '/tmp/4711.sock',
  '/tmp/cc-socks/../other/4711.sock',
  '/tmp/cc-socks/4711.sock.old',
  '/var/run/docker.sock',
])('"%s" is none', (path) => expect(addressIn(path)).toBeUndefined());

test('a socket without its token is none', () => {
  expect(addressIn('/tmp/cc-socks/4711.sock', 'short')).toBeUndefined();
  expect(inboxAddressIn({ CLAUDE_CODE_MESSAGING_SOCKET: '/tmp/cc-socks/4711.sock' })).toBeUndefined();
  expect(inboxAddressIn({})).toBeUndefined();
});

test.each(['2.1.330', '2.2.0', '2.1.330-beta.1'])('a Claude Code %s takes messages', (version) =>
  expect(takesMessages({ name: 'claude-code', version })).toBe(true),
);

test.each(['2.1.329', '1.9.999', 'new', '2.1.330.1'])('a Claude Code "%s" takes none', (version) =>
  expect(takesMessages({ name: 'claude-code', version })).toBe(false),
);

test.each(['cursor', 'claude-code-fork'])('the client "%s" takes none', (name) =>
  expect(takesMessages({ name, version: '2.1.330' })).toBe(false),
);
