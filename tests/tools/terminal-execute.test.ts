import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ScriptedTerminal } from '../harness/scripted-editor.js';
import { openTerminalTools } from './terminal-tools.js';

/** What a command prints, and its exit code. */
const prints =
  (text: string, exitCode: number | null = 0) =>
  (terminal: ScriptedTerminal) => {
    terminal.print(text);
    terminal.finish(exitCode);
  };
const RED = '\u001b[31mred\u001b[0m\n';

describe('execute', () => {
  test('uses its own idle terminal of the project again, and never one in which a command runs', async () => {
    const tools = await openTerminalTools();
    const lib = join(tools.project, '..', 'lib');
    await mkdir(lib);
    const editor = await tools.open({ folders: [tools.project, lib], commands: { true: prints('') } });
    editor.addTerminal('of-another-program', tools.project);
    const idOf = async (args: Record<string, string | number>) =>
      (await tools.answer('execute', args))['terminal_id'];
    const first = await idOf({ command: 'true' });
    expect(await idOf({ command: 'true' })).toBe(first);
    expect(await idOf({ command: 'true', path: lib })).not.toBe(first);
    expect(await idOf({ command: 'serve', timeout_seconds: 1 })).toBe(first);
    const other = await idOf({ command: 'true' });
    expect(other).not.toBe(first);
    expect(editor.terminals.size).toBe(4);
  });

  test('does not end a command that runs on: it is followed by its cursor', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({ commands: { build: (terminal) => terminal.print('step 1\n') } });
    const started = await tools.answer('execute', { command: 'build', timeout_seconds: 1 });
    expect(started).toMatchObject({ state: 'running', exit_code: null, text: 'step 1\n', cursor: 7 });
    expect(started['note']).toBe(
      'It has not ended yet and goes on. Call read_terminal with the cursor and wait_seconds.',
    );
    const id = started['terminal_id'];
    const args = { terminal_id: id, cursor: 7, wait_seconds: 20 };
    const waiting = tools.answer('read_terminal', args);
    await expect.poll(() => editor.requests.at(-1)).toHaveProperty('waitMs');
    const terminal = editor.terminal(String(id));
    terminal.print('step 2\n');
    terminal.print('step 3\n');
    terminal.finish(2);
    expect(await waiting).toEqual({
      terminal_id: id,
      state: 'idle',
      exit_code: 2,
      from: 7,
      cursor: 21,
      more: false,
      text: 'step 2\nstep 3\n',
    });
    expect(editor.requests.find(({ type }) => type === 'execute')).toMatchObject({
      answer: 'start',
      ifBusy: 'refuse',
      timeoutMs: 24 * 3_600_000,
    });
  });

  test('refuses a second command while one runs', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project).begin('x');
    expect(await tools.fault('execute', { command: 'true', terminal_id: 't1' })).toBe(
      'TERMINAL_BUSY: A command runs in this terminal. read_terminal with wait_seconds waits for its end. Or use another terminal: create_terminal.',
    );
  });

  test('leaves out escape sequences, unless they are asked for', async () => {
    const tools = await openTerminalTools();
    await tools.open({ commands: { colors: prints(`${RED}10 %\r100 %\n`) } });
    const plain = await tools.answer('execute', { command: 'colors' });
    expect(plain['text']).toBe('red\n100 %\n');
    const raw = await tools.answer('execute', { command: 'colors', raw: true });
    expect(raw['text']).toBe(`${RED}10 %\r100 %\n`);
  });

  test('gives the newest output of a command that prints much, and where the rest is', async () => {
    const tools = await openTerminalTools();
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join('');
    await tools.open({ commands: { flood: prints(lines) } });
    const {
      terminal_id: id,
      text,
      from,
      left_out: leftOut,
      note,
    } = await tools.answer('execute', { command: 'flood', max_bytes: 1_000 });
    expect(text).toMatch(/^line \d+\n[^]*line 4999\n$/);
    expect(lines.endsWith(String(text))).toBe(true);
    expect(String(text).length).toBeGreaterThan(900);
    expect(from).toBe(leftOut);
    expect(note).toBe('Its output before the text: read_terminal with cursor 0.');
    let cursor: unknown = 0;
    let read = '';
    for (let more: unknown = true; more === true;) {
      const page = await tools.answer('read_terminal', { terminal_id: id, cursor, max_bytes: 20_000 });
      expect(Buffer.byteLength(String(page['text']))).toBeLessThanOrEqual(20_000);
      read += String(page['text']);
      ({ cursor, more } = page);
    }
    expect(read).toBe(lines);
  });

  test('says where the shell does not tell an exit code, and that a command ran for a day', async () => {
    const tools = await openTerminalTools();
    await tools.open({
      commands: { odd: prints('', null), day: (terminal) => terminal.finish(130, true) },
    });
    const odd = await tools.answer('execute', { command: 'odd' });
    expect([odd['exit_code'], odd['note']]).toEqual([null, expect.stringContaining('told no exit code')]);
    const day = await tools.answer('execute', { command: 'day' });
    expect(day).toMatchObject({ exit_code: 130, note: 'It ran for a day and was interrupted.' });
  });

  test('says who closed the terminal in the middle', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({
      commands: {
        wait: ({ facts }) => editor.closeTerminal(facts.terminalId),
        exit: ({ facts }) => editor.closeTerminal(facts.terminalId, 'shell'),
      },
    });
    expect(await tools.fault('execute', { command: 'wait' })).toMatch(
      /^TERMINAL_CLOSED: The user closed the terminal\./,
    );
    expect(await tools.fault('execute', { command: 'exit' })).toMatch(
      /^TERMINAL_CLOSED: The shell of the terminal has ended\./,
    );
  });

  test('says how to go on when the connection is lost in the middle', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({ commands: { deploy: () => editor.breakConnections() } });
    editor.addTerminal('t1', tools.project).print('before\n');
    const { content, _meta } = await tools.call('execute', { command: 'deploy', terminal_id: 't1' });
    expect(content[0].text).toBe(
      `EDITOR_UNREACHABLE: The window of VS Code with ${tools.project} closed the connection before it answered. The command was started and may still run. The terminal goes on without the connection: read_terminal with terminal_id t1 and cursor 7 shows its output.`,
    );
    expect(_meta).toEqual({ error: { errorCode: 'EDITOR_UNREACHABLE', terminal_id: 't1', cursor: '7' } });
    editor.terminal('t1').print('done\n');
    editor.terminal('t1').finish(0);
    expect(await tools.answer('read_terminal', { terminal_id: 't1', cursor: 7 })).toMatchObject({
      text: 'done\n',
      state: 'idle',
      exit_code: 0,
    });
  });

  test.each(['\u0003', 'echo \u001b[2J', 'ls\r'])('refuses keys in a command: %j', async (command) => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project);
    expect(await tools.fault('execute', { command, terminal_id: 't1' })).toMatch(
      /^INVALID_ARGUMENTS: VS Code takes no such arguments: command: must not hold control characters/,
    );
    expect(editor.requests.map(({ type }) => type)).toEqual(['list_terminals']);
  });
});

describe('execute with text and keys', () => {
  test('answers a command that asks, and gives what comes of it', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open({
      commands: { install: (terminal) => terminal.print('Go on? ') },
      typed: (terminal, text) => {
        terminal.print(`${text.trim()}\ndone\n`);
        terminal.finish(0);
      },
    });
    const asked = await tools.answer('execute', { command: 'install', timeout_seconds: 1 });
    const id = String(asked['terminal_id']);
    expect(asked).toMatchObject({ state: 'running', text: 'Go on? ' });
    expect(await tools.answer('execute', { terminal_id: id, text: 'yes', keys: ['enter'] })).toEqual({
      terminal_id: id,
      state: 'ended',
      exit_code: 0,
      from: 7,
      cursor: 16,
      text: 'yes\ndone\n',
    });
    expect(editor.requests.find(({ type }) => type === 'input')).toMatchObject({ text: 'yes\r' });
  });

  test('types nothing where nothing runs, and nothing with a command or without a terminal', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project);
    expect(await tools.fault('execute', { terminal_id: 't1', text: 'ls\n' })).toBe(
      'INVALID_ARGUMENTS: Nothing runs in the terminal that could read text or keys. Give command instead.',
    );
    for (const args of [
      {},
      { text: 'y' },
      { command: 'ls', text: 'y', terminal_id: 't1' },
      { terminal_id: 't1', text: '' },
    ])
      expect(await tools.fault('execute', args)).toMatch(
        /^INVALID_ARGUMENTS: .* Give command alone, or terminal_id with text or keys\.$/,
      );
    expect(editor.requests.map(({ type }) => type)).toEqual(['list_terminals']);
  });
});

describe('read_terminal', () => {
  test('gives the newest output, from the beginning of a line on', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project).print(`${'x'.repeat(200)}\n${RED}end\n`);
    expect(await tools.answer('read_terminal', { terminal_id: 't1', max_bytes: 100 })).toEqual({
      terminal_id: 't1',
      state: 'idle',
      exit_code: null,
      from: 201,
      cursor: 218,
      more: false,
      text: 'red\nend\n',
    });
  });

  test('says how much is not kept any more', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project).print('z'.repeat(100_500));
    expect(
      await tools.answer('read_terminal', { terminal_id: 't1', cursor: 100, max_bytes: 100 }),
    ).toMatchObject({ from: 500, missing: 400, more: true });
  });
});
