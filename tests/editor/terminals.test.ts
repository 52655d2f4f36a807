import { beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { EditorMessage, EditorRequest } from '../../src/editor/protocol.js';
import { Requests } from '../../vscode/src/requests/answer-request.js';
import { TerminalRegistry } from '../../vscode/src/terminals/terminal-registry.js';
import type { ShellExecution } from '../../vscode/src/editor.js';
import { ManualClock } from '../harness/manual-clock.js';
import { FakeEditor, type FakeTerminal } from './fake-editor.js';

let editor: FakeEditor;
let requests: Requests;
let number = 0;

beforeEach(() => {
  editor = new FakeEditor();
  const clock = new ManualClock();
  const options = { editor, clock, logger: silentLogger, searchPath: '/usr/bin:/bin' };
  requests = new Requests(new TerminalRegistry(options), clock);
});

const program = {
  name: 'tester',
  gone: new AbortController().signal,
  terminalId: undefined as string | undefined,
  send: async (): Promise<void> => undefined,
};

type Asked = EditorRequest extends infer One ? (One extends EditorRequest ? Omit<One, 'id'> : never) : never;

function ask(request: Asked & { readonly id?: string }): Promise<EditorMessage> {
  return requests.answer({ id: `r${++number}`, ...request }, program);
}

async function create(id = 't'): Promise<FakeTerminal> {
  await ask({ type: 'create_terminal', id });
  const made = editor.made.at(-1);
  if (made === undefined) throw new Error('nothing was made');
  return made;
}

/** The command that was given to a terminal last. */
async function given(terminal: FakeTerminal, count: number): Promise<ShellExecution> {
  await expect.poll(() => terminal.executions.length).toBe(count);
  const execution = terminal.executions.at(-1);
  if (execution === undefined) throw new Error('nothing runs');
  return execution;
}

describe('a command', () => {
  test('waits for what the person runs', async () => {
    const terminal = await create();
    const persons = await personRuns(terminal);
    const answer = ask({ type: 'execute', command: 'ls', terminalId: 't' });
    await expect(
      ask({ type: 'execute', command: 'ls', terminalId: 't', ifBusy: 'refuse' }),
    ).rejects.toMatchObject({ code: 'TERMINAL_BUSY' });
    expect(terminal.executions).toHaveLength(1);
    terminal.end(persons, 0);
    const own = await given(terminal, 2);
    terminal.begin(own);
    terminal.end(own, 0);
    expect(await answer).toMatchObject({ exitCode: 0 });
  });

  test('may be too many', async () => {
    const terminal = await create();
    const all = Array.from({ length: 52 }, () =>
      ask({ type: 'execute', command: 'ls', terminalId: 't' }).catch((error: unknown) => error),
    );
    expect(await all.at(-1)).toMatchObject({ code: 'TOO_MANY' });
    terminal.closeAs(3);
    await Promise.all(all);
  });
});

describe('a terminal', () => {
  test('is not made in a workspace that is not trusted, nor one too many', async () => {
    editor.trusted = false;
    await expect(create()).rejects.toMatchObject({ code: 'UNTRUSTED_WORKSPACE' });
    expect(editor.made).toEqual([]);
    editor.trusted = true;
    for (let count = 0; count < 32; count++) await create(`t${count}`);
    await expect(create('more')).rejects.toMatchObject({ code: 'TOO_MANY' });
  });

  test('that a program closes is not taken for its next command', async () => {
    const terminal = await create();
    terminal.dispose = () => undefined;
    await ask({ type: 'close_terminal', terminalId: 't' });
    const answer = ask({ type: 'execute', command: 'pwd' });
    await expect.poll(() => editor.made.at(-1)?.executions.length).toBe(1);
    expect(editor.made).toHaveLength(2);
    terminal.closeAs(4);
    const next = editor.made[1];
    const execution = next?.executions[0];
    if (next === undefined || execution === undefined) throw new Error('nothing runs');
    next.begin(execution);
    next.end(execution, 0);
    expect(await answer).toMatchObject({ type: 'success', exitCode: 0 });
  });
});

async function personRuns(terminal: FakeTerminal): Promise<ShellExecution> {
  terminal.shellIntegration?.executeCommand('vim');
  const execution = await given(terminal, 1);
  terminal.begin(execution);
  return execution;
}
