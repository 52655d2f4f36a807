import { beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { EditorMessage, EditorRequest } from '../../src/editor/protocol.js';
import { Requests } from '../../vscode/src/requests/answer-request.js';
import { TerminalRegistry, type TerminalClosed } from '../../vscode/src/terminals/terminal-registry.js';
import { ManualClock } from '../harness/manual-clock.js';
import { FakeEditor, FakeExecution, type FakeTerminal } from './fake-editor.js';

let editor: FakeEditor;
let clock: ManualClock;
let registry: TerminalRegistry;
let requests: Requests;
let sent: EditorMessage[];
let number = 0;

beforeEach(() => {
  editor = new FakeEditor();
  clock = new ManualClock();
  registry = new TerminalRegistry({ editor, clock, logger: silentLogger, searchPath: '/usr/bin:/bin' });
  requests = new Requests(registry, clock);
  sent = [];
});

const program = {
  name: 'tester',
  gone: new AbortController().signal,
  terminalId: undefined as string | undefined,
  send: async (message: EditorMessage): Promise<void> => void sent.push(message),
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
async function given(terminal: FakeTerminal, count: number): Promise<FakeExecution> {
  await expect.poll(() => terminal.executions.length).toBe(count);
  const execution = terminal.executions.at(-1);
  if (execution === undefined) throw new Error('nothing runs');
  return execution;
}

describe('a command', () => {
  test('is given once its terminal is free, and answered with its output and its code', async () => {
    const terminal = await create();
    const answers = ['one', 'two'].map((command) => ask({ type: 'execute', command, terminalId: 't' }));
    for (const [index, code] of [0, 5].entries()) {
      const execution = await given(terminal, index + 1);
      terminal.begin(execution);
      execution.print(`\u001b]633;C\u0007out ${index}\r\n`);
      terminal.end(execution, code);
    }
    expect(await Promise.all(answers)).toMatchObject([
      { type: 'success', exitCode: 0, output: 'out 0\n', from: 0, cursor: 6 },
      { type: 'success', exitCode: 5, output: 'out 1\n', from: 6, cursor: 12 },
    ]);
  });

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

  test('is given up when the person’s runs for too long', async () => {
    const terminal = await create();
    await personRuns(terminal);
    const answer = ask({ type: 'execute', command: 'ls', terminalId: 't', timeoutMs: 5_000 });
    await expect.poll(() => clock.timerCount).toBeGreaterThan(0);
    clock.advance(5_001);
    await expect(answer).rejects.toMatchObject({ code: 'TERMINAL_BUSY' });
  });

  test('that the shell never begins is interrupted, said so, and blocks nothing', async () => {
    const terminal = await create();
    const answer = ask({ type: 'execute', command: 'if true; then', terminalId: 't' });
    await given(terminal, 1);
    const failed = expect(answer).rejects.toMatchObject({ code: 'NOT_STARTED' });
    await advanceUntil(() => terminal.typed.length === 2);
    await advanceUntil(() => registry.get('t').queue.execution?.state === 'ended');
    await failed;
    expect(terminal.typed).toEqual(['\u0003', '\u0003']);
    // The editor takes the echo for a command, and sees no end of it.
    terminal.begin(new FakeExecution('^C'));
    const next = ask({ type: 'execute', command: 'ls', terminalId: 't' });
    const own = await given(terminal, 2);
    terminal.begin(own);
    terminal.end(own, 0);
    expect(await next).toMatchObject({ exitCode: 0 });
  });

  test('ends with its terminal', async () => {
    const terminal = await create();
    const running = ask({ type: 'execute', command: 'sleep 9', terminalId: 't' });
    const waiting = ask({ type: 'execute', command: 'ls', terminalId: 't' });
    terminal.begin(await given(terminal, 1));
    const failed = Promise.all([
      expect(running).rejects.toMatchObject({ code: 'TERMINAL_CLOSED' }),
      expect(waiting).rejects.toMatchObject({ code: 'TERMINAL_CLOSED' }),
    ]);
    terminal.closeAs(3);
    await failed;
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
  test('that goes is reported with who took it away', async () => {
    const closed: TerminalClosed[] = [];
    registry.onClosed((one) => closed.push(one));
    for (const [id, close] of Object.entries({
      person: (terminal: FakeTerminal) => terminal.closeAs(3),
      shell: (terminal: FakeTerminal) => terminal.closeAs(2, 7),
      program: () => registry.close('program'),
    }))
      close(await create(id));
    expect(closed.map(({ terminalId, by, exitCode }) => [terminalId, by, exitCode])).toEqual([
      ['person', 'person', null],
      ['shell', 'shell', 7],
      ['program', 'program', null],
    ]);
    expect(registry.all).toEqual([]);
  });

  test('is not made in a workspace that is not trusted, nor one too many', async () => {
    editor.trusted = false;
    await expect(create()).rejects.toMatchObject({ code: 'UNTRUSTED_WORKSPACE' });
    expect(editor.made).toEqual([]);
    editor.trusted = true;
    for (let count = 0; count < 32; count++) await create(`t${count}`);
    await expect(create('more')).rejects.toMatchObject({ code: 'TOO_MANY' });
  });

  test('carries the name of the program that made it', async () => {
    const terminal = await create();
    expect(terminal.name).toBe('Terminal (tester)');
    expect(terminal.options?.message).toContain('Made by tester');
  });

  test('is made once its shell has shown a fresh prompt, of which nothing is output', async () => {
    const terminal = await create();
    expect(terminal.emptyLines).toBe(1);
    expect(registry.get('t').describe()).toMatchObject({ state: 'idle', cursor: 0 });
  });

  test('of a shell that shows no fresh prompt is waited for ten seconds', async () => {
    editor.answersEmptyLines = false;
    const made = create();
    await expect.poll(() => clock.timerCount).toBeGreaterThan(0);
    expect(registry.all).toEqual([]);
    clock.advance(10_000);
    expect((await made).emptyLines).toBe(1);
    expect(registry.has('t')).toBe(true);
  });

  test('of a shell that does not report empty lines is made without one', async () => {
    editor.shell = '/usr/bin/fish';
    expect((await create()).emptyLines).toBe(0);
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

  test('of a shell that reports nothing is refused, and at once where that is switched off', async () => {
    editor.isSwitchedOn = false;
    await expect(ask({ type: 'create_terminal', id: 'x' })).rejects.toThrow('switched off');
    editor.isSwitchedOn = true;
    editor.integrates = false;
    const refused = ask({ type: 'create_terminal', id: 'x' });
    await expect.poll(() => clock.timerCount).toBeGreaterThan(0);
    clock.advance(10_000);
    await expect(refused).rejects.toMatchObject({ code: 'NO_SHELL_INTEGRATION' });
    expect(editor.made[0]?.exitStatus).toBeDefined();
    expect(registry.all).toEqual([]);
  });
});

async function personRuns(terminal: FakeTerminal): Promise<FakeExecution> {
  terminal.shellIntegration?.executeCommand('vim');
  const execution = await given(terminal, 1);
  terminal.begin(execution);
  return execution;
}

/** Lets time pass, in steps, until something is so. */
async function advanceUntil(isSo: () => boolean): Promise<void> {
  await expect
    .poll(
      () => {
        clock.advance(500);
        return isSo();
      },
      { interval: 5 },
    )
    .toBe(true);
}
