// README.md and docs/guide.md with the real Claude Code: what is said to a session, who answers it, what goes on after it.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { attach } from '../harness/attached-terminal.js';
import { repository } from '../harness/project-files.js';
import { limitReached, SUBSCRIBER } from '../harness/limit-answers.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says, thinksForEver } from '../harness/scripted-turns.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { ScriptedModel } from './scripted-model.js';

const recordSchema = z.looseObject({ session_id: z.string() });
const DETACH = '\x1d';
/** The bridge goes on two minutes after a reset; here it waits for the rest of them. */
const MARGIN_MS = 120_000;
const REST_MS = 3_000;

describeNewestClaude('a session of Claude Code', ({ binary }) => {
  const model = new ScriptedModel();
  // With a subscription, which has limits.
  const bridge = sharedBridge({ claude: binary, script: model.script, ...SUBSCRIBER });

  afterEach(() => bridge().killAll());

  test('is interrupted in the middle of a command and waits; it goes on with what message_task says, also in place of what it does', async () => {
    const path = await bridge().newProject('messages');
    model.does(runs('touch started; tail -f /dev/null'), thinksForEver, says('Something else, then.'));
    const id = await bridge().start({ path, prompt: 'Work.' });
    await until('the command runs', () => existsSync(join(path, 'started')));
    await bridge().call('message_task', { task_id: id, interrupt: true });
    const waiting = await bridge().until(id, ({ status }) => status === 'waiting');
    expect(waiting.decisions).toEqual([]);
    expect(waiting.hint).toContain('message_task');
    await bridge().call('message_task', { task_id: id, text: 'Go on.' });
    await until('the message is there', () => model.requests.at(-1)?.userText.includes('Go on.') === true);
    await bridge().call('message_task', { task_id: id, interrupt: true, text: 'Do something else.' });
    expect(await bridge().end(id)).toMatchObject({
      status: 'completed',
      last_output: 'Something else, then.',
    });
    expect(model.requests.at(-1)?.userText).toContain('Do something else.');
  });

  test('is continued from the end of a task, as often as one likes, and stays as it was', async () => {
    const path = await bridge().newProject('continued');
    const done = async (answer: string, more: Readonly<Record<string, unknown>> = {}) => {
      model.does(says(answer));
      const id = await bridge().start({ path, prompt: `Say ${answer}`, driver: 'print', ...more });
      expect(await bridge().end(id)).toMatchObject({ status: 'completed', last_output: answer });
      const record = recordSchema.parse(JSON.parse(await bridge().mcp.readResource(`tasks://${id}`)));
      return { id, session: record.session_id, messages: model.requests[0]?.messageCount ?? 0 };
    };
    const first = await done('one');
    const second = await done('two', { continue_from: first.id });
    const other = await done('other', { continue_from: first.id });
    // From the first again: what the second added is not there.
    expect([second.messages, other.messages]).toEqual([first.messages + 2, first.messages + 2]);
    expect(new Set([first, second, other].map(({ session }) => session)).size).toBe(3);
  });

  test('is continued in the worktree of its task, from any folder and without one', async () => {
    const path = await bridge().newProject('continued-worktree');
    await repository(path);
    model.does(says('one'));
    const first = await bridge().start({ path, prompt: 'Say one', on_conflict: 'always_worktree' });
    const { project_path } = await bridge().end(first);
    expect(project_path).toContain('/.claude/worktrees/');
    model.does(says('two'));
    const second = await bridge().start({ prompt: 'Say two', driver: 'print', continue_from: first });
    expect(await bridge().end(second)).toMatchObject({ project_path, last_output: 'two' });
    model.does(says('three'));
    const args = ['Go on.', '--continue', first.slice(-6)];
    const person = await attach(bridge(), { command: 'run', args, cwd: path });
    await person.sees(/status +completed/);
    expect(await person.exited).toMatchObject({ code: 0 });
  });

  test('asks a person at a client that shows forms, and the model of the client is not asked', async () => {
    const path = await bridge().newProject('forms');
    const shown: string[] = [];
    const client = await bridge().another('modern', {
      person: ({ message, fields }) => {
        shown.push([message, ...fields].join(' | '));
        return message.includes('never') ? 'decline' : {};
      },
    });
    model.does(runs('echo hi > hello.txt'), runs('touch never.txt'), says('One of two.'));
    const id = await client.start({ path, prompt: 'Both.', driver: 'print', permission_mode: 'cautious' });
    // As a model waits: a form is shown in a call.
    await until('its end', async () => {
      const waited = await client.call('wait_for_task', { task_ids: [id] });
      expect(waited).toMatchObject({ tasks: [{ status: 'completed' }] });
    });
    expect(shown).toHaveLength(2);
    expect(shown[0]).toMatch(
      /: Bash\n\| command: echo hi > hello\.txt\n\| description: a step of the work\nWhy it is asked: /,
    );
    expect(await readFile(join(path, 'hello.txt'), 'utf8')).toBe('hi\n');
    expect(existsSync(join(path, 'never.txt'))).toBe(false);
    expect(model.told.at(-1)).toContain('A person was asked, and declined this.');
    expect(await bridge().events(id, 'decision-closed')).toMatchObject([
      { verdict: 'allow', answered_by: 'elicitation' },
      { verdict: 'deny', answered_by: 'elicitation' },
    ]);
  });

  test('is answered and gone on with by a person who attaches to it', async () => {
    const path = await bridge().newProject('attached');
    model.does(runs('node -e "1"'), says('The first is done.'), says('The second is done.'));
    const id = await bridge().start({ path, prompt: 'Run it.', permission_mode: 'cautious' });
    await bridge().decision(id);
    const person = await attach(bridge(), { args: [id], columns: 100, rows: 35 });
    await person.sees('Do you want to proceed?');
    await person.sees('then y, s or n answers');
    await person.press('\r', person.sees('The first is done.'));
    const held = await bridge().until(id, ({ activity }) => activity === 'A person works at the terminal');
    expect(held).toMatchObject({ status: 'waiting', decisions: [] });
    expect(await bridge().events(id, 'decision-closed')).toMatchObject([{ answered_by: 'terminal' }]);
    person.type('And the second.');
    await person.sees('And the second.');
    await person.press('\r', person.sees('The second is done.'));
    await bridge().until(id, ({ status }) => status === 'waiting');
    person.type(DETACH);
    expect((await person.exited).code).toBe(0);
    expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
  });

  test('is parked at a usage limit if it may wait, and goes on after the reset with what it had', async () => {
    const path = await bridge().newProject('parked');
    const client = await bridge().another('modern', { env: { MCP_RESUME_AFTER_LIMIT: 'true' } });
    const limit = limitReached(Date.now() - MARGIN_MS + REST_MS);
    model.does(runs('echo before > before.txt'), limit, says('All of it.'));
    const id = await client.start({ path, prompt: 'Work.', driver: 'print' });
    expect(await bridge().end(id)).toMatchObject({ status: 'completed', last_output: 'All of it.' });
    expect(await bridge().events(id, 'trouble')).toMatchObject([{ kind: 'usage-limit' }]);
    expect(await bridge().events(id, 'trouble-over')).toHaveLength(1);
    expect((await bridge().events(id, 'status')).map(({ to }) => to)).toContain('waiting');
    expect(await readFile(join(path, 'before.txt'), 'utf8')).toBe('before\n');
    // What came before the limit is in it.
    expect(model.requests.at(-1)?.messageCount).toBeGreaterThan(3);
  });
});
