import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { sharedEditor } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

describeWith('editors', 'messages to an editor', () => {
  describe.each(inject('vscodes'))('in VS Code $version', (installed) => {
    const editor = sharedEditor({ installed }, browser);
    const whole = test.runIf(installed.isNewest);
    let number = 0;

    /** A new terminal. */
    async function terminal(more: object = {}): Promise<string> {
      const id = `terminal-${++number}`;
      await editor().client.askFor('terminal_created', { type: 'create_terminal', id, show: false, ...more });
      return id;
    }

    const read = (terminalId: string, more: { cursor?: number; waitMs?: number; maxChars?: number }) =>
      editor().client.askFor('output', { type: 'read_output', terminalId, ...more });

    describe('a program that knows the first messages alone', () => {
      test('creates a terminal by the id of its request, runs commands in it, and closes it', async () => {
        const { client } = editor();
        const created = await client.askFor('terminal_created', { type: 'create_terminal', id: 'first' });
        expect(created).toMatchObject({
          id: 'first',
          terminalId: 'first',
          terminalName: 'Terminal (tester)',
        });
        const run = await client.run('echo hello', 'first');
        expect(run).toMatchObject({ terminalId: 'first', exitCode: 0, output: 'hello\n' });
        expect(await client.askFor('success', { type: 'close_terminal', terminalId: 'first' })).toMatchObject(
          {
            terminalId: 'first',
          },
        );
        const closed = await client.message(
          (one) => one.type === 'terminal_closed' && one.terminalId === 'first',
        );
        expect(closed).toMatchObject({ by: 'program' });
        const gone = await client.askFor('error', { type: 'execute', command: 'true', terminalId: 'first' });
        expect(gone.code).toBe('TERMINAL_NOT_FOUND');
      });
    });

    describe('output', () => {
      test('of sixty fast commands is complete, and has no marks of the shell in it', async () => {
        const { client } = editor();
        const id = await terminal();
        const answers = await Promise.all(
          Array.from({ length: 50 }, (_, index) => client.run(`echo line ${index}`, id)),
        );
        for (let index = 50; index < 60; index++) answers.push(await client.run(`echo line ${index}`, id));
        expect(answers.map(({ output, exitCode }) => [output, exitCode])).toEqual(
          Array.from({ length: 60 }, (_, index) => [`line ${index}\n`, 0]),
        );
        const all = await client.ask({ type: 'read_output', terminalId: id, cursor: 0 });
        expect(all).toMatchObject({ dropped: 0, more: false, state: 'idle' });
        expect(JSON.stringify(all)).not.toContain('633');
      });

      test('of megabytes comes byte for byte', async () => {
        const { client, server } = editor();
        const id = await terminal();
        const line = 'Zeile mit Umlauten äöü, 漢字 und 🚀, and a number: ';
        const text = Array.from({ length: 50_000 }, (_, index) => `${line}${index}\n`).join('');
        await writeFile(join(server.project, 'large.txt'), text);
        const run = await client.run('cat large.txt', id, { maxChars: 20 });
        expect(run).toMatchObject({ exitCode: 0, output: text.slice(-20), omitted: text.length - 20 });
        let got = '';
        for (let cursor = run.from ?? 0, more = true; more;) {
          const piece = await read(id, { cursor, maxChars: 128 * 1024 });
          expect(piece.dropped).toBe(0);
          got += piece.text;
          ({ cursor, more } = piece);
        }
        expect(got.length).toBe(text.length);
        expect(sha256(got)).toBe(sha256(text));
      });

      whole('is read by cursor, and waited for', async () => {
        const { client } = editor();
        const id = await terminal();
        const started = await client.run('for i in 1 2 3; do echo $i; sleep 0.3; done', id, {
          answer: 'start',
        });
        let cursor = started.from ?? 0;
        let text = '';
        for (let state = 'running'; state !== 'ended' || text.length < 6;) {
          const piece = await read(id, { cursor, waitMs: 5_000 });
          text += piece.text;
          cursor = piece.cursor;
          state = piece.execution?.state ?? 'running';
        }
        expect(text).toBe('1\n2\n3\n');
        const ended = await client.message((one) => one.type === 'execution_ended' && one.id === started.id);
        expect(ended).toMatchObject({ exitCode: 0, timedOut: false, from: started.from, cursor });
      });
    });

    describe('a command', () => {
      test('that fails has its exit code', async () => {
        const id = await terminal();
        expect(await editor().client.run('echo oops >&2; (exit 42)', id)).toMatchObject({
          exitCode: 42,
          output: 'oops\n',
        });
        expect(await editor().client.run("sh -c 'kill -TERM $$'", id)).toMatchObject({ exitCode: 143 });
      });

      test('of several lines runs as one', async () => {
        const id = await terminal();
        const command =
          'for i in 1 2; do\n\techo "$i"\ndone\ncat <<X\n  text\nX\nexit_code() { return 3; }\nexit_code';
        expect(await editor().client.run(command, id)).toMatchObject({
          exitCode: 3,
          output: '1\n2\n  text\n',
        });
      });

      test('that takes too long is interrupted, and the terminal goes on', async () => {
        const { client } = editor();
        const id = await terminal();
        const late = await client.askFor('error', {
          type: 'execute',
          command: 'echo begun; sleep 600',
          terminalId: id,
          timeoutMs: 1_000,
        });
        expect(late.code).toBe('TIMED_OUT');
        const said = await read(id, late.from === undefined ? {} : { cursor: late.from });
        expect(said.text).toContain('begun\n');
        expect(said.execution).toMatchObject({ state: 'ended', timedOut: true });
        expect(await client.run('echo next', id)).toMatchObject({ exitCode: 0, output: 'next\n' });
      });

      test('with an error in its syntax, of which the editor may report no end, holds up no other terminal', async () => {
        const { client } = editor();
        const wrong = {
          type: 'execute' as const,
          command: ')',
          terminalId: await terminal(),
          timeoutMs: 1_000,
        };
        expect((await client.askFor('error', wrong)).code).toBe('TIMED_OUT');
        expect(await client.run('echo next', await terminal())).toMatchObject({ output: 'next\n' });
      });

      whole('reads what is typed', async () => {
        const { client } = editor();
        const id = await terminal();
        await client.run('read -p "name? " name && echo "hello $name"', id, { answer: 'start' });
        await untilText(id, 'name? ');
        await client.askFor('success', { type: 'input', terminalId: id, text: 'Ada\r' });
        await untilText(id, 'hello Ada\n');
      });
    });

    /** Waits until a terminal has printed something. */
    async function untilText(id: string, text: string): Promise<void> {
      for (let seen = '', cursor = 0; !seen.includes(text);) {
        const piece = await read(id, { cursor, waitMs: 5_000 });
        seen += piece.text;
        cursor = piece.cursor;
      }
    }

    describe('a terminal', () => {
      whole('has the folder and the environment that were asked for', async () => {
        const { client, server } = editor();
        const id = await terminal({ cwd: server.home, env: { GREETING: 'hello there', TMPDIR: null } });
        expect((await client.run('pwd; echo "$GREETING" "${TMPDIR-none}"', id)).output).toBe(
          `${server.home}\nhello there none\n`,
        );
        const missing = await client.askFor('error', { type: 'create_terminal', id: 'm', cwd: '/no/folder' });
        expect(missing.code).toBe('FOLDER_NOT_FOUND');
      });

      whole('runs the shell that was named, as a program or as a profile', async () => {
        const { client } = editor();
        const zsh = await terminal({ shell: 'zsh' });
        expect((await client.run('echo $ZSH_VERSION', zsh)).output).toMatch(/^5\.[\d.]+\n$/);
        expect((await client.run('printf "no line end"', zsh)).output).toBe('no line end');
        const bash = await terminal({ shell: '/bin/bash' });
        expect((await client.run('echo ${BASH_VERSION:0:1}', bash)).output).toMatch(/^5/);
        const missing = await client.askFor('error', {
          type: 'create_terminal',
          id: 'm',
          shell: 'no-such-shell',
        });
        expect(missing.code).toBe('SHELL_NOT_FOUND');
      });

      whole('of a shell that tells the editor nothing is refused, and is gone', async () => {
        const { client } = editor();
        const refused = await client.askFor('error', { type: 'create_terminal', id: 'sh', shell: '/bin/sh' });
        expect(refused).toMatchObject({ code: 'NO_SHELL_INTEGRATION' });
        const { terminals } = await client.askFor('terminals', { type: 'list_terminals' });
        expect(terminals.map(({ terminalId }) => terminalId)).not.toContain('sh');
      });
    });
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
