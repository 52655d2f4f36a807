// Pure: whether and where Claude Code takes messages for a session, as it tells the programs that the session starts.
import { basename, dirname, isAbsolute, normalize } from 'node:path';

export interface InboxAddress {
  readonly socketPath: string;
  /** Claude Code made it for the programs of this session. */
  readonly token: string;
  /** The process of Claude Code, as the name of the socket has it. */
  readonly pid: number;
}

const SOCKET_NAME = /^(\d{1,10})(-[0-9a-f]{8})?\.sock$/;
const FOLDER_NAME = /^cc-socks(-\d{1,10})?$/;
const TOKEN = /^[0-9a-f]{32}$/;
/** The oldest version with which the socket is tested. */
const TESTED = [2, 1, 330] as const;

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
export function takesMessages({
  name,
  version,
}: {
  readonly name: string;
  readonly version: string;
}): boolean {
  const parts = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?![\d.])/.exec(version)?.slice(1).map(Number);
  if (name !== 'claude-code' || parts === undefined) return false;
  const differing = parts.findIndex((part, index) => part !== TESTED[index]);
  return differing === -1 || (parts[differing] ?? 0) > (TESTED[differing] ?? 0);
}
