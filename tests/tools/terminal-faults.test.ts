import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createStderrLogger } from '../../src/base/logger.js';
import type { JsonObject } from '../../src/mcp/answers.js';
import { ManualClock } from '../harness/manual-clock.js';
import type { ScriptedEditor, ScriptedEditorOptions } from '../harness/scripted-editor.js';
import { openTerminalTools, type TerminalTools } from './terminal-tools.js';

/** All that was answered and logged in a test. */
let said: string[] = [];

afterEach(() => {
  said = [];
});

async function opened(
  options: Partial<ScriptedEditorOptions>,
  clock?: ManualClock,
): Promise<{ readonly tools: TerminalTools; readonly editor: ScriptedEditor }> {
  const tools = await openTerminalTools(
    clock,
    createStderrLogger('debug', (line) => said.push(line)),
  );
  return { tools, editor: await tools.open(options) };
}

/** The error; it and the log hold neither port nor token, and the connections are closed. */
async function fault(
  tools: TerminalTools,
  editor: ScriptedEditor,
  name: string,
  args: JsonObject = {},
): Promise<string> {
  const text = await tools.fault(name, args);
  expectNoSecret([...said, text].join('\n'), editor);
  await expect.poll(() => editor.connections).toBe(0);
  return text;
}

function expectNoSecret(text: string, { window }: ScriptedEditor): void {
  expect(text).not.toContain(window.token);
  expect(text).not.toContain(String(window.port));
  expect(text).not.toContain('127.0.0.1');
}

const LOADING =
  'It may be loading: call again in a few seconds. If it stays so, ask the user to run "Developer: Reload Window" in it.';

test.each<[string, Partial<ScriptedEditorOptions>, string]>([
  ['refuses the connection', { refuse: 403 }, `/app refused the bridge. ${LOADING}`],
  ['has too many programs', { refuse: 503 }, 'has too many programs connected.'],
  [
    'closes the connection at once',
    {
      fault: (_request, socket) => {
        socket.close();
        return null;
      },
    },
    'closed the connection before it answered.',
  ],
  [
    'answers what is no message',
    { fault: () => 'hello' },
    'sent a message that this bridge does not understand. Ask the user to install',
  ],
  [
    'sends more than a message may hold',
    { fault: () => JSON.stringify({ type: 'pong', id: 'x'.repeat(2 ** 21) }) },
    'sent a message that is too long.',
  ],
  [
    'does not know the token',
    {
      fault: ({ id }) => ({
        type: 'error',
        id,
        code: 'NO_TOKEN',
        error: 'The token was not shown.',
        hint: 'Read it.',
      }),
    },
    `EDITOR_UNREACHABLE: The token was not shown. ${LOADING}`,
  ],
])('execute says what is so, and no secret, when the window %s', async (_, options, expected) => {
  const { tools, editor } = await opened(options);
  expect(await fault(tools, editor, 'execute', { command: 'true' })).toContain(expected);
});

describe('within its time a call gives up a window that', () => {
  test.each(['hello', 'execute'])('is silent to %s', async (silent) => {
    const clock = new ManualClock();
    const { tools, editor } = await opened(
      { fault: ({ type }) => (type === silent ? null : undefined) },
      clock,
    );
    const answer = tools.fault('execute', { command: 'true' });
    let text: string | undefined;
    answer.then(
      (given) => (text = given),
      () => undefined,
    );
    await expect
      .poll(() => {
        clock.advance(1_000);
        return text;
      })
      .toMatch(/^EDITOR_UNREACHABLE: /);
    expect(clock.monotonicMs()).toBeLessThan(120_000);
    expectNoSecret(String(text), editor);
    expect(clock.timerCount).toBe(0);
  });
});

test('it is told where it is not known whether a command was started, or a terminal made', async () => {
  const { tools, editor } = await opened({
    fault: ({ type }, socket) => {
      if (type !== 'execute' && type !== 'create_terminal') return undefined;
      socket.terminate();
      return null;
    },
  });
  editor.addTerminal('t1', tools.project);
  expect(await fault(tools, editor, 'execute', { command: 'true', terminal_id: 't1' })).toMatch(
    / It is not known whether the command was started\. .* read_terminal with terminal_id t1 shows its output\.$/,
  );
  expect(await fault(tools, editor, 'create_terminal')).toMatch(
    / did not say whether the terminal was made\. list_terminals shows whether it was\.$/,
  );
});

test.each([
  [
    'NO_SHELL_INTEGRATION',
    /^NO_SHELL_INTEGRATION: It reports nothing\. Call create_terminal with another shell/,
  ],
  ['FOLDER_NOT_FOUND', /^PATH_NOT_FOUND: It reports nothing\. /],
  ['TOO_MANY', /^TERMINAL_FAILED: It reports nothing\. Close one\.$/],
] as const)('the error %s of the extension says what to do with a tool', async (code, expected) => {
  const { tools, editor } = await opened({
    fault: ({ id, type }) =>
      type === 'create_terminal'
        ? { type: 'error', id, code, error: 'It reports nothing.', hint: 'Close one.' }
        : undefined,
  });
  expect(await fault(tools, editor, 'create_terminal')).toMatch(expected);
});

test('answers hold neither port nor token', async () => {
  const { tools, editor } = await opened({ commands: { true: (terminal) => terminal.finish(0) } });
  const { terminal_id: id } = await tools.answer('execute', { command: 'true' });
  const answers = [
    await tools.call('list_terminals'),
    await tools.call('read_terminal', { terminal_id: String(id) }),
    await tools.call('create_terminal'),
    await tools.call('close_terminal', { terminal_id: String(id) }),
  ];
  expect(answers.filter(({ isError }) => isError === true)).toEqual([]);
  expectNoSecret(JSON.stringify([answers, said]), editor);
  const [file = ''] = await readdir(join(tools.statePath, 'editors'));
  expect(await readFile(join(tools.statePath, 'editors', file), 'utf8')).toContain(editor.window.token);
});
