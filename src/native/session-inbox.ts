import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename, dirname, isAbsolute, normalize } from 'node:path';
import { isOlderVersion } from '../base/package.js';
import { ancestorsOf } from '../os/choose-processes.js';
import { processSource } from '../os/process-source.js';
import type { ProcessTable } from '../os/process-table.js';
import { identityOf } from '../store/process-identity.js';
import { isSameIdentity, type ProcessIdentity } from '../store/process-place.js';

const SOCKET_NAME = /^(\d{1,10})(-[0-9a-f]{8})?\.sock$/;
const FOLDER_NAME = /^cc-socks(-\d{1,10})?$/;
const TOKEN = /^[0-9a-f]{32}$/;
/** The oldest version with which the socket is tested. */
const TESTED = '2.1.330';
const VERSION = /^(\d{1,6}\.){2}\d{1,6}(?![\d.])/;
const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
/** Claude Code closes the connection at once when it has read a message. */
const LIMIT_MS = 5_000;

/** Where Claude Code takes messages for a session, as it says to the programs that the session starts. */
export interface InboxAddress {
  readonly socketPath: string;
  /** Claude Code made it for the programs of this session. */
  readonly token: string;
  /** The process of Claude Code, as the name of the socket has it. */
  readonly pid: number;
}

export interface InboxMessage {
  readonly text: string;
  /** Claude Code drops a message for another session than the one that it shows. */
  readonly sessionId: string;
}

/**
 * The socket on which the Claude Code around this process takes messages for its model. It is not documented: the model reads
 * what comes there as the message of another session, and Claude Code does not report what becomes of it.
 */
export interface SessionInbox {
  /** Resolves when the message is written; a turn that it begins comes later. Rejects with the reason, in words, when it may not or cannot be. */
  send(message: InboxMessage): Promise<void>;
}

/** `ownPid` is the process whose ancestor the session must be. */
export function sessionInbox(
  address: InboxAddress,
  {
    table = processSource,
    ownPid = process.pid,
  }: { readonly table?: ProcessTable; readonly ownPid?: number } = {},
): SessionInbox {
  let known: ProcessIdentity | undefined;
  return {
    send: async ({ text, sessionId }) => {
      const owner = await ownerOf(address, table, ownPid);
      if (known !== undefined && !isSameIdentity(known, owner))
        throw new Error('the messaging socket belongs to another process than before');
      known = owner;
      const lines = [
        { type: 'auth', token: address.token },
        {
          type: 'user',
          message: { role: 'user', content: text },
          // Between two steps of a turn that runs.
          priority: 'next',
          session_id: sessionId,
        },
      ];
      await write(address.socketPath, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
  };
}

/** The process that listens there. Throws unless the socket is of this user alone, and of a process that started this one. */
async function ownerOf(
  { socketPath, pid }: InboxAddress,
  table: ProcessTable,
  ownPid: number,
): Promise<ProcessIdentity> {
  const [socket, folder] = await Promise.all([lstat(socketPath), lstat(dirname(socketPath))]);
  const uid = process.getuid?.();
  if (!socket.isSocket() || socket.uid !== uid || (socket.mode & GROUP_OR_OTHERS) !== 0)
    throw new Error('the messaging socket of Claude Code is not a socket of this user alone');
  const isOthers = (folder.mode & WRITABLE_BY_OTHERS) !== 0 && (folder.mode & STICKY) === 0;
  if (!folder.isDirectory() || isOthers || (folder.uid !== uid && folder.uid !== 0))
    throw new Error('others may replace the messaging socket of Claude Code');
  const owner = await identityOf(pid, table);
  if (owner === undefined || !ancestorsOf(await table.table(), ownPid).has(pid))
    throw new Error('the messaging socket belongs to no process that started this server');
  return owner;
}

/** Undefined where the environment names no socket, or one that does not look as those of Claude Code do. */
export function inboxAddressIn(env: Readonly<Record<string, string | undefined>>): InboxAddress | undefined {
  const path = env['CLAUDE_CODE_MESSAGING_SOCKET'];
  const token = env['CLAUDE_CODE_MESSAGING_TOKEN'];
  if (path === undefined || token === undefined || !TOKEN.test(token)) return undefined;
  if (!isAbsolute(path) || normalize(path) !== path || !FOLDER_NAME.test(basename(dirname(path))))
    return undefined;
  const pid = Number(SOCKET_NAME.exec(basename(path))?.[1]);
  return Number.isSafeInteger(pid) && pid > 1 ? { socketPath: path, token, pid } : undefined;
}

/** Whether a client is a Claude Code that is tested, or a newer one. */
export function takesMessages(client: { readonly name: string; readonly version: string }): boolean {
  const [version] = VERSION.exec(client.version) ?? [];
  return client.name === 'claude-code' && version !== undefined && !isOlderVersion(version, TESTED);
}

function write(path: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('Claude Code does not read its messages')));
    // After the message was written, an error changes nothing any more.
    socket.on('error', reject);
    socket.once('connect', () => socket.end(text, () => resolve()));
    // Nothing is expected; what comes must be read for the end to be seen.
    socket.resume();
  });
}
