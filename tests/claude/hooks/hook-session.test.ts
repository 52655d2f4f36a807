import { appendFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { parseHookEvent, type HookEvent } from '../../../src/claude/hooks/hook-event.js';
import { HookSession } from '../../../src/claude/interactive/hook-session.js';
import type { SessionEvent } from '../../../src/claude/session.js';
import { passingGuard } from '../../harness/passing-guard.js';
import { tempFolder } from '../../harness/temp-folder.js';

const SESSION = '00000000-0000-4000-8000-000000000000';
const PROJECT = '/home/anybody/proj';
let folder: string;
let transcript: string;
let events: SessionEvent[];
let session: HookSession;

beforeEach(async () => {
  folder = await tempFolder();
  await mkdir(join(folder, 'projects', '-proj'), { recursive: true });
  transcript = join(folder, 'projects', '-proj', `${SESSION}.jsonl`);
  events = [];
  session = sessionIn(folder);
});
afterEach(() => session.dispose());

function sessionIn(configDir: string): HookSession {
  const env = { CLAUDE_CODE_TMPDIR: configDir };
  const given = { cwd: PROJECT, sessionId: SESSION, configDir, env };
  const options = { ...given, clock: systemClock, guard: passingGuard, prompt: 'Do it.' };
  return new HookSession(options, (event) => events.push(event));
}

function hook(name: string, fields: Readonly<Record<string, unknown>>): HookEvent {
  const event = parseHookEvent({ session_id: SESSION, cwd: PROJECT, hook_event_name: name, ...fields });
  if (event === undefined) throw new Error(`${name} is no hook`);
  return event;
}

/** What the CLI would post; resolves when it is answered and reported. */
async function post(
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
  gone = new AbortController().signal,
): Promise<Readonly<Record<string, unknown>>> {
  const output = await session.handle(hook(name, fields), gone);
  await session.readTranscript();
  return output;
}

function said(
  text: string,
  extra: Readonly<Record<string, unknown>> = {},
  uses: readonly unknown[] = [],
): Promise<void> {
  const line = {
    type: 'assistant',
    timestamp: new Date().toISOString(),
    message: { id: 'msg_1', model: 'claude', content: [{ type: 'text', text }, ...uses] },
    ...extra,
  };
  return appendFile(transcript, `${JSON.stringify(line)}\n`);
}

const afterSession = () => events.filter((event) => event.type !== 'session');

describe('a session as its hooks report it', () => {
  it('a hook whose session id looks like an option of the CLI is refused', async () => {
    await expect(post('Notification', { session_id: '--dangerously-skip-permissions' })).rejects.toThrow(
      'no hook',
    );
  });

  it('a turn that ends by an error has its kind and its words', async () => {
    const text = 'Not logged in · Please run /login';
    await post('StopFailure', { error: 'authentication_failed', last_assistant_message: text });
    expect(afterSession()).toMatchObject([{ type: 'turn-ended', error: { kind: 'not-logged-in', text } }]);
  });

  it('a turn that a usage limit ends has the time that the transcript has of it', async () => {
    const text = "You've hit your 5-hour limit · resets 11:31pm (UTC)";
    await said(text, {
      message: { id: 'msg_1', model: '<synthetic>', content: [{ type: 'text', text }] },
      isApiErrorMessage: true,
      apiError: 'usage_limit_reached',
      apiErrorStatus: 429,
      apiErrorParams: { rate_limit_info: { status: 'rejected', resetsAt: 1_795_822_319 } },
    });
    await post('StopFailure', { error: 'rate_limit', last_assistant_message: text });
    expect(afterSession()).toMatchObject([
      { type: 'turn-ended', error: { kind: 'usage-limit', text, resetsAtMs: 1_795_822_319_000 } },
    ]);
  });

  it('an event of a newer version is answered and changes nothing', async () => {
    expect(await post('SomethingNew', { anything: 1 })).toEqual({});
    expect(events).toEqual([]);
    // Nor does one that is too long to be remembered.
    expect(hook('SubagentStart', { agent_id: 'a'.repeat(5_000) }).hook_event_name).toBe('other');
  });
});

describe('what the assistant says in the middle of a turn', () => {
  it('is reported once and in order, before the event that followed it', async () => {
    await said('First this.');
    await post('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } });
    await said('Then that.');
    await post('Stop', { last_assistant_message: 'Then that.' });
    expect(afterSession().map((event) => ('text' in event ? event.text : event.type))).toEqual([
      'First this.',
      'tool-started',
      'Then that.',
      'turn-ended',
    ]);
  });

  it('is reported before the tool, although the CLI writes it later; the hook of the tool does not wait', async () => {
    const output = session.handle(
      hook('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' }),
      new AbortController().signal,
    );
    expect(await output).toEqual({});
    expect(afterSession()).toEqual([]);
    await said('First this.', {}, [
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
    ]);
    await session.readTranscript();
    expect(afterSession().map((event) => event.type)).toEqual(['said', 'tool-started']);
  });

  it('leaves out what subagents say', async () => {
    await said('A subagent speaks.', { isSidechain: true });
    await post('Stop', { last_assistant_message: null });
    expect(afterSession().map((event) => event.type)).toEqual(['turn-ended']);
  });

  it("comes from the session's own transcript, not from a path in a hook", async () => {
    const own = transcript;
    transcript = join(folder, 'foreign.jsonl');
    await said('Words of another session.');
    await post('PreToolUse', { transcript_path: transcript, tool_name: 'Read', tool_input: {} });
    transcript = own;
    await said('My own words.');
    await post('PreToolUse', {
      transcript_path: join(folder, 'foreign.jsonl'),
      tool_name: 'Read',
      tool_input: {},
    });
    expect(events.filter((event) => event.type === 'said')).toEqual([
      { type: 'said', text: 'My own words.', atMs: expect.any(Number) as number },
    ]);
  });
});

describe('a permission request', () => {
  const bash = { tool_name: 'Bash', tool_input: { command: 'make' } };
  const ask = async (fields: Readonly<Record<string, unknown>> = bash, gone?: AbortSignal) => {
    const output = post('PermissionRequest', fields, gone);
    await vi.waitFor(() => expect(events.at(-1)?.type).toBe('request'));
    return { output };
  };
  const decided = (decision: unknown) => ({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
  });

  it.each([
    {
      tool_name: 'AskUserQuestion',
      asked: {
        questions: [{ question: 'Which?', header: 'C', multiSelect: false, options: [{ label: 'A' }] }],
      },
      added: { answers: { 'Which?': 'A' } },
      isGone: true,
    },
    { tool_name: 'Bash', asked: { command: 'make' }, added: { command: 'make it' }, isGone: false },
  ])('of $tool_name is gone when it has run as it was asked: $isGone', async ({ isGone, ...call }) => {
    const { tool_name, asked, added } = call;
    const { output } = await ask({ tool_name, tool_input: asked });
    session.typed();
    await post('PostToolUse', { tool_name, tool_input: { ...asked, ...added }, tool_response: {} });
    expect(session.isWaiting).toBe(!isGone);
    if (!isGone) session.answer('hook-1', { verdict: 'allow' });
    await output;
  });

  it('is gone when the CLI hangs up: a person answered at the terminal', async () => {
    const gone = new AbortController();
    const { output } = await ask(bash, gone.signal);
    gone.abort();
    expect(await output).toEqual({});
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'hook-1' });
    expect(session.answer('hook-1', { verdict: 'allow' })).toBe(false);
  });

  it.each(['PostToolUse', 'Stop', 'StopFailure', 'UserPromptSubmit'])(
    'stays open after a %s when no person has typed: any program can post that',
    async (name) => {
      const { output } = await ask();
      await post(name, { ...bash, tool_response: {}, prompt: '', error: 'rate_limit' });
      expect(session.isWaiting).toBe(true);
      session.answer('hook-1', { verdict: 'allow' });
      expect(await output).toEqual(decided({ behavior: 'allow' }));
    },
  );

  it('is denied with the end of its turn when that is interrupted, and no call runs until it is over', async () => {
    const { output } = await ask();
    const stop = session.stop('Interrupted.');
    const denied = { behavior: 'deny', message: 'Interrupted.', interrupt: true };
    expect(await output).toEqual(decided(denied));
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'hook-1', why: 'Interrupted.' });
    expect(await post('PreToolUse', bash)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'Interrupted.' },
    });
    expect(await post('PermissionRequest', bash)).toEqual(decided(denied));
    stop.dispose();
    expect(await post('PreToolUse', bash)).toEqual({});
  });

  it('is withdrawn at the end of the session', async () => {
    const { output } = await ask();
    session.withdraw('the session ended');
    expect(await output).toEqual({});
    expect(events.at(-1)).toEqual({ type: 'request-gone', requestId: 'hook-1', why: 'the session ended' });
  });

  it('of a form of an MCP server has its fields as questions, and gives them back as values', async () => {
    const properties = {
      region: { type: 'string', enum: ['n', 's'], enumNames: ['North', 'South'], description: 'Where' },
      count: { type: 'integer', title: 'How many' },
      sure: { type: 'boolean' },
      tags: { type: 'array', items: { anyOf: [{ const: 'x', title: 'Ex' }, { const: 'y' }] } },
      note: { type: 'string' },
    };
    const form = {
      mcp_server_name: 'el',
      message: 'Deploy?',
      requested_schema: { properties, required: ['region', 'count', 'sure'] },
    };
    const answered = post('Elicitation', form);
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: 'request' }));
    expect(events.at(-1)).toMatchObject({
      request: {
        kind: 'question',
        summary: 'el asks: Deploy?',
        questions: [
          { question: 'region: region (Where)', options: [{ label: 'North' }, { label: 'South' }] },
          { question: 'count: How many', options: [] },
          { question: 'sure: sure', options: [{ label: 'Yes' }, { label: 'No' }] },
          { question: 'tags: tags', multiSelect: true },
          { question: 'note: note', options: [{ label: '(leave out)' }] },
        ],
      },
    });
    const answers = {
      'region: region (Where)': 'South',
      'count: How many': '3',
      'sure: sure': 'No',
      'tags: tags': 'Ex, y',
      'note: note': '(leave out)',
    };
    session.answer('hook-1', { verdict: 'allow', answers });
    expect(await answered).toEqual({
      hookSpecificOutput: {
        hookEventName: 'Elicitation',
        action: 'accept',
        content: { region: 's', count: 3, sure: false, tags: ['x', 'y'] },
      },
    });
    const refused = post('Elicitation', {
      mcp_server_name: 'el',
      message: 'Log in',
      url: 'https://e.example',
    });
    await vi.waitFor(() =>
      expect(events.at(-1)).toMatchObject({
        request: { kind: 'permission', summary: 'el asks: Log in https://e.example' },
      }),
    );
    session.answer('hook-2', { verdict: 'deny', message: 'No.' });
    expect(await refused).toMatchObject({ hookSpecificOutput: { action: 'decline' } });
  });
});

describe('a command whose end no hook reports', () => {
  const input = { command: 'make watch' };
  const uses = [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input }];
  const tasksIn = (temp: string): string =>
    join(temp, `claude-${process.getuid?.() ?? 0}`, '-proj', SESSION, 'tasks');
  const append = (line: Readonly<Record<string, unknown>>): Promise<void> =>
    appendFile(transcript, `${JSON.stringify({ timestamp: new Date().toISOString(), ...line })}\n`);
  const ended = () => events.filter((event) => event.type === 'command-ended');

  async function printed(commandId: string, text: string): Promise<string> {
    await mkdir(tasksIn(folder), { recursive: true });
    const file = join(tasksIn(folder), `${commandId}.output`);
    await writeFile(file, text);
    return file;
  }

  const call = { tool_name: 'Bash', tool_input: input, tool_use_id: 'toolu_1' };

  async function begins(): Promise<void> {
    await said('I start it.', {}, uses);
    await post('PreToolUse', call);
  }

  async function goesOn(): Promise<void> {
    await begins();
    await post('PostToolUse', { ...call, tool_response: { backgroundTaskId: 'b1' } });
  }

  function notified(outputFile: string): Promise<void> {
    const content = `<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<output-file>${outputFile}</output-file>\n<status>failed</status>\n<summary>Background command "b" failed with exit code 3</summary>\n</task-notification>`;
    return append({ type: 'queue-operation', operation: 'enqueue', content });
  }

  it('since it ran in the background, is reported once, with its output and exit code', async () => {
    await goesOn();
    await notified(await printed('b1', 'built\n\n[exited with code 3]\n'));
    await notified('/tmp/again');
    await session.readTranscript();
    expect(ended()).toEqual([
      {
        type: 'command-ended',
        id: 'toolu_1',
        command: 'make watch',
        summary: 'Bash(make watch)',
        end: { exitCode: 3, output: 'built' },
      },
    ]);
  });

  it('has no output from a file that is not one of its session', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'SECRET');
    await mkdir(tasksIn(folder), { recursive: true });
    const linked = join(tasksIn(folder), 'b1.output');
    await symlink(secret, linked);
    await goesOn();
    await notified(linked);
    await session.readTranscript();
    expect(ended()).toMatchObject([{ end: { exitCode: 3, output: '' } }]);
  });
});
