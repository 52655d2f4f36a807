import { describe, expect, it, onTestFinished } from 'vitest';
import { HooksServer, type HookHandler } from '../../../src/claude/hooks/hooks-server.js';
import type { CliPermissions } from '../../../src/approvals/cli-permissions.js';
import { HOOK_TOKEN_VARIABLE, hookSettings } from '../../../src/claude/hooks/hook-settings.js';
import { relayHooks } from '../../../src/claude/hooks/relayed-hooks.js';

const TOKEN = 'a token';
const EVENT = {
  session_id: '00000000-0000-4000-8000-000000000000',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'Do it.',
};
const FOREVER = new AbortController().signal;

describe('hooks of a CLI that cannot reach the server', () => {
  it('run a program instead of posting, and keep their time limit and all other settings', async () => {
    const { command } = await relayed(() => Promise.resolve({}), { ask: ['Bash(git push *)'], deny: [] });
    const settings: unknown = JSON.parse(command[2] ?? '');
    expect(command.slice(0, 2)).toEqual(['claude', '--settings']);
    expect(command.slice(3)).toEqual(['--model', 'opus']);
    expect(settings).toMatchObject({
      permissions: { ask: ['Bash(git push *)'], deny: [] },
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'ask the relay', timeout: 70 }] }] },
    });
    expect(command[2]).not.toContain('http');
  });

  it('are answered by the hooks server', async () => {
    const { answer } = await relayed((event) =>
      Promise.resolve({ continue: event.hook_event_name === 'UserPromptSubmit' }),
    );
    expect(await answer(Buffer.from(JSON.stringify(EVENT)), FOREVER)).toBe('{"continue":true}');
  });

  it('are cancelled when no one waits any more', async () => {
    let wasTold: (() => void) | undefined;
    const told = new Promise<void>((resolve) => (wasTold = resolve));
    const gone = new AbortController();
    const { answer } = await relayed(
      (_event, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            wasTold?.();
            resolve({});
          });
          gone.abort();
        }),
    );
    await expect(answer(Buffer.from(JSON.stringify(EVENT)), gone.signal)).rejects.toThrow('aborted');
    await told;
  });

  it('that are invalid are refused by the server, which is an error', async () => {
    const { answer } = await relayed(() => Promise.resolve({}));
    await expect(answer(Buffer.from('{"no":"hook"}'), FOREVER)).rejects.toThrow('answered 400');
  });

  it('change nothing in a command without hooks', async () => {
    const { command, answer } = relayHooks(['program', '--flag'], {}, 'ask the relay');
    expect(command).toEqual(['program', '--flag']);
    expect(await answer(Buffer.from('{}'), FOREVER)).toBe('{}');
  });
});

async function relayed(handle: HookHandler, permissions: CliPermissions = { ask: [], deny: [] }) {
  const server = await HooksServer.start({ token: TOKEN, handle, onError: () => undefined });
  onTestFinished(() => server.dispose());
  const settings = hookSettings(server.url, 10, permissions);
  return relayHooks(
    ['claude', '--settings', settings, '--model', 'opus'],
    { [HOOK_TOKEN_VARIABLE]: TOKEN },
    'ask the relay',
  );
}
