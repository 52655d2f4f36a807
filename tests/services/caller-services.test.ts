import { expect, test } from 'vitest';
import type { Logger } from '../../src/base/logger.js';
import { configSchema, type Config } from '../../src/config/schema.js';
import { createCallerServices } from '../../src/services/caller-services.js';

const socket = {
  CLAUDE_CODE_MESSAGING_SOCKET: '/tmp/cc-socks/4711.sock',
  CLAUDE_CODE_MESSAGING_TOKEN: '0123456789abcdef0123456789abcdef',
};
const claude = { name: 'claude-code', version: '2.1.330' };

/** What a server with this setting logs about a client. */
function logged(
  notify_caller: Config['notify_caller'],
  client: typeof claude,
  env: Readonly<Record<string, string>> = socket,
): string[] {
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const services = createCallerServices({
    config: { ...configSchema.parse({}), notify_caller },
    env,
    homeDir: '/home/me',
    version: '0.0.0',
    logger,
    keeperEntry: '/keeper.js',
  });
  services?.onClient(client);
  return lines;
}

test('a Claude Code that is tested is given notices without a word', () => {
  expect(logged('session', claude)).toEqual([]);
  expect(logged('channel', claude, {})).toEqual([]);
});

test.each([
  ['another client', 'session', { ...claude, name: 'cursor' }, socket, 'the client is not Claude Code'],
  ['another client', 'channel', { ...claude, name: 'cursor' }, socket, 'the client is not Claude Code'],
  [
    'an older version',
    'session',
    { ...claude, version: '2.1.197' },
    socket,
    'Claude Code is older than 2.1.330, or does not say its version',
  ],
  [
    'a Claude Code without a socket',
    'session',
    claude,
    {},
    'Claude Code has not named its messaging socket to this server',
  ],
] as const)('%s with %s gets none, which one line says', (_who, setting, client, env, why) => {
  expect(logged(setting, client, env)).toEqual([`notify_caller does nothing here: ${why}`]);
});

test('off by default: nothing is made, and nothing logged', () => {
  expect(logged('off', claude)).toEqual([]);
});
