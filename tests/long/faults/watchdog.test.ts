import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { repository } from '../../harness/project-files.js';
import { program } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

/** Nothing may keep server or keeper from their timers, their sockets and their callers for longer. */
const LIMIT_MS = 1_000;
const POLL = { timeout: 60_000, interval: 50 };
const MB = 1024 * 1024;
const probe = fileURLToPath(new URL('../../harness/loop-probe.cjs', import.meta.url));

/** A CLI that says where its hooks are to go, and draws what it is given. */
const AGENT = `[ "$1" = --version ] && { echo '2.1.330 (Claude Code)'; exit 0; }
[ "$1" = agents ] && { echo '[]'; exit 0; }
printf '%s' "$*" > "$HOME/arguments"
printf '%s' "$CLAUDE_CODE_BRIDGE_HOOK_TOKEN" > "$HOME/token"
number=0
while :; do
  if [ -e "$HOME/paint$number" ]; then cat "$HOME/paint$number"; : > "$HOME/painted$number"; number=$((number + 1)); fi
  sleep 0.05
done`;

const blockSchema = z.object({ program: z.string(), blockedMs: z.number() });

interface Watched {
  readonly bridge: TestBridge;
  /** Fails when something took too long since the last check, with the name of what was done. */
  readonly check: (what: string) => Promise<void>;
  readonly home: string;
}

async function watched(): Promise<Watched> {
  const workplace = await createWorkplace();
  const file = join(workplace.root, 'blocked.ndjson');
  const bridge = await startBridge({
    claude: program('claude', AGENT),
    workplace,
    env: { NODE_OPTIONS: `--require ${probe}`, LOOP_PROBE_FILE: file, MCP_TOOLSETS: 'all' },
  });
  let read = 0;
  const check = async (what: string): Promise<void> => {
    // The program answers again: what it was given is behind it.
    await bridge.call('list_tasks');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const blocks = lines.slice(read).map((line) => blockSchema.parse(JSON.parse(line)));
    read = lines.length;
    expect({ what, blocks: blocks.filter(({ blockedMs }) => blockedMs > LIMIT_MS) }).toEqual({
      what,
      blocks: [],
    });
  };
  return { bridge, check, home: workplace.homeDir };
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** `tool_input` as JSON text, each as large as a hook may be. */
const inputs: Readonly<Record<string, () => string>> = {
  'one string': () => JSON.stringify({ command: 'x'.repeat(7 * MB) }),
  'control characters': () =>
    JSON.stringify({ command: '\u0001'.repeat(MB), file_path: '\u0001'.repeat(200_000) }),
  'line ends': () => JSON.stringify({ command: '\n'.repeat(3 * MB) }),
  quotes: () => JSON.stringify({ command: `"'`.repeat(2 * MB) }),
  brackets: () => JSON.stringify({ command: '$('.repeat(100_000) }),
  'a long path': () => JSON.stringify({ file_path: '/a/..'.repeat(MB), content: '' }),
  'links in a path': () => JSON.stringify({ file_path: `/${'../'.repeat(3 * MB)}x`, content: '' }),
  'many fields': () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`f${i}`, '/x']))),
  'many numbers': () => JSON.stringify({ list: Array.from({ length: 3_000_000 }, () => 1) }),
  'many questions': () =>
    JSON.stringify({
      questions: Array.from({ length: 50_000 }, () => ({ question: 'q', options: [{ label: 'l' }] })),
    }),
  'what nests as deep as it may': () => JSON.stringify({ list: 0 }).replace('0', deep(150)),
  'what nests deeper': () => JSON.stringify({ list: 0 }).replace('0', deep(3 * MB)),
};
/** Of each of these the input is read in another way; the long form has others, too. */
const tools = [
  'Bash',
  'Write',
  'AskUserQuestion',
  ...(process.env['SOAK'] === '1' ? ['mcp__some__tool', 'Grep'] : []),
];
const events = ['PreToolUse', 'PermissionRequest', 'PostToolUse'];

it.skipIf(process.platform !== 'linux')(
  'no body of a hook blocks a keeper for a second',
  { timeout: 300_000 },
  async () => {
    const { bridge, check, home } = await watched();
    const id = await bridge.start({ prompt: 'x', permission_mode: 'cautious' });
    await expect
      .poll(() => existsSync(join(home, 'token')) && readFileSync(join(home, 'token'), 'utf8') !== '', POLL)
      .toBe(true);
    const url =
      /http:\/\/127\.0\.0\.1:\d+\/hooks/.exec(readFileSync(join(home, 'arguments'), 'utf8'))?.[0] ?? '';
    const authorization = `Bearer ${readFileSync(join(home, 'token'), 'utf8')}`;
    const hungUp = new AbortController();
    const post = (fields: string): Promise<unknown> =>
      fetch(url, {
        method: 'POST',
        headers: { authorization },
        body: `{"session_id":"01234567-89ab-4cde-8f01-23456789abcd",${fields}}`,
        signal: hungUp.signal,
      }).then(
        (answer) => answer.text(),
        () => 'no answer',
      );
    expect(await post('"hook_event_name":"UserPromptSubmit","prompt":"x"')).toBe('{}');
    await check('the start');
    for (const [name, input] of Object.entries(inputs)) {
      const text = input();
      for (const tool of tools) {
        for (const event of events) {
          const answered = post(`"hook_event_name":"${event}","tool_name":"${tool}","tool_input":${text}`);
          // What is asked waits for a person.
          await Promise.race([answered, new Promise((done) => setTimeout(done, 300))]);
          await check(`${event} of ${tool} with ${name}`);
        }
      }
    }
    const long = JSON.stringify('ä\u0001\n'.repeat(MB));
    await post(`"hook_event_name":"Notification","message":${long}`);
    await check('a long notification');
    const transcript = join(bridge.workplace.root, 'transcript.jsonl');
    const said = { type: 'assistant', message: { content: [{ type: 'text', text: 'x\u0001'.repeat(MB) }] } };
    await writeFile(
      transcript,
      `${JSON.stringify(said)}\n${'x'.repeat(20 * MB)}\n${`${deep(MB)}\n`.repeat(5)}${'{}\n'.repeat(500_000)}`,
    );
    await post(`"hook_event_name":"Notification","transcript_path":${JSON.stringify(transcript)}`);
    await check('a long transcript');
    await post(`"hook_event_name":"StopFailure","error":${long},"last_assistant_message":${long}`);
    hungUp.abort();
    await check('a long last message');
    await bridge.call('kill_task', { task_id: id });
    await check('the end');
  },
);

/** Bytes that a program may print. */
const paintings: Readonly<Record<string, () => string>> = {
  lines: () => 'a line of text\r\n'.repeat(MB),
  'one line': () => 'x'.repeat(20 * MB),
  'a title without an end': () => `\x1b]0;${'x'.repeat(20 * MB)}`,
  'a device string without an end': () => `\x1b\\\x1bP${'x'.repeat(20 * MB)}`,
  'the ends of both': () => '\x1b\\\x18',
  'the last character, again and again': () => 'x\x1b[2147483647b'.repeat(100),
  'large counts': () =>
    ['L', 'M', '@', 'P', 'X', 'S', 'T', 'A', 'B', 'C', 'D', 'I', 'Z', 'E', 'F', 'G']
      .map((final) => `\x1b[2147483647${final}`.repeat(1_000))
      .join(''),
  'many parameters': () => `\x1b[${'1;'.repeat(MB)}m`,
  'tabs and wide characters': () => '\t\u{1f600}e\u0301'.repeat(MB),
  'another screen, again and again': () => '\x1b[?1049h\x1b[2J\x1b[?1049l'.repeat(200_000),
  questions: () => '\x1b[c\x1b[6n\x1b]11;?\x07'.repeat(100_000),
};

it.skipIf(process.platform !== 'linux')(
  'nothing that a program prints blocks a keeper for a second',
  { timeout: 300_000 },
  async () => {
    const { bridge, check, home } = await watched();
    const id = await bridge.start({ prompt: 'x' });
    for (const [number, [name, painting]] of Object.entries(paintings).entries()) {
      await writeFile(join(home, `.paint`), painting());
      await rename(join(home, '.paint'), join(home, `paint${number}`));
      await expect.poll(() => existsSync(join(home, `painted${number}`)), POLL).toBe(true);
      // All of it is on the screen by then.
      await bridge.output(id, 'screen');
      await check(name);
    }
    await bridge.call('kill_task', { task_id: id });
  },
);

it.skipIf(process.platform !== 'linux')(
  'nothing that a socket or a caller brings blocks keeper or server for a second',
  { timeout: 300_000 },
  async () => {
    const { bridge, check } = await watched();
    const id = await bridge.start({ prompt: 'x', keep_open: true });
    const { socket_path: path } = await bridge.record(id);
    const lines: Readonly<Record<string, string>> = {
      'a deep line': `{"id":1,"method":${deep(3 * MB)}}\n`,
      'a long answer': `${JSON.stringify({ id: 1, method: 'respond', answer: { decision_id: 'x'.repeat(3 * MB), verdict: 'deny', by: 'y'.repeat(3 * MB) } })}\n`,
      'many lines': '{"id":1,"method":"screen"}\n'.repeat(300_000),
      'a long method': `${JSON.stringify({ id: 1, method: 'z'.repeat(7 * MB) })}\n`,
      'an answer with many words': `{"id":1,"method":"respond","answer":{"decision_id":"dec_1","verdict":"allow","answers":{${Array.from({ length: 150_000 }, (_, number) => `"${number}":"x"`).join()}}}}\n`,
      'many views': [1000, 60]
        .flatMap((columns) => [true, false].map((covered) => ({ columns, rows: columns / 2, covered })))
        .map((view) => ({ id: 1, method: 'watch', view: { ...view, read_only: false, scrollback: 2_000 } }))
        .map((request) => `${JSON.stringify(request)}\n`)
        .join('')
        .repeat(24),
      'long keys': `${JSON.stringify({ id: 1, method: 'type', keys: 'AAAA'.repeat(MB) })}\n`,
    };
    for (const [name, line] of Object.entries(lines)) {
      const socket = createConnection(path);
      socket.on('error', () => undefined);
      socket.resume();
      const over = new Promise((done) => socket.on('close', done));
      socket.end(line);
      await over;
      await check(name);
    }

    await prepareProject(bridge.project);
    await bridge.call('set_active_project', { path: bridge.project });
    const hostile = `${'(a*)*'.repeat(200)}$`;
    const nested: unknown = JSON.parse(deep(2_000));
    const calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ['start_task', { prompt: 'x'.repeat(4 * MB), path: bridge.project }],
      ['message_task', { task_id: id, text: 'x\n'.repeat(MB / 2) }],
      [
        'respond_to_task',
        { task_id: id, decision_id: 'd'.repeat(MB), verdict: 'deny', message: 'm'.repeat(4 * MB) },
      ],
      ['get_task_status', { task_id: 't'.repeat(8 * MB) }],
      [
        'wait_for_task',
        { task_ids: Array.from({ length: 200_000 }, (_, i) => `task_${i}`), timeout_seconds: 1 },
      ],
      ['search_files', { query: 'a' }],
      ['search_files', { query: '(.*a){12}b', regex: true }],
      ['search_files', { query: '(\\p{L}|\\w)+b', regex: true }],
      ['read_file', { path: '../'.repeat(MB) }],
      ['read_file', { path: 'long.txt' }],
      ['read_file_range', { path: 'long.txt', start_line: 2_000_000, end_line: 2_000_010 }],
      ['search_files', { query: hostile, regex: true }],
      ['search_files', { query: 'a'.repeat(1_000), glob: '**/'.repeat(1_000) }],
      ['search_files', { query: 'a'.repeat(MB) }],
      ['search_files', { query: '((((a{30}){30}){30}){30})', regex: true }],
      ['search_files', { query: '(x+x+)+y'.repeat(400), regex: true }],
      ['search_files', { query: 'a', glob: `{${','.repeat(3_900)}` }],
      ['search_files', { query: 'a', glob: `{${','.repeat(300_000)}` }],
      ['search_files', { query: 'a', glob: '*a'.repeat(1_900) }],
      ['list_files', { path: '.', depth: 3 }],
      ['get_file_tree', { path: '.', depth: 3 }],
      ['write_file', { path: 'w.txt', content: '\u0001'.repeat(MB) }],
      ['git_status', {}],
      ['git_diff', {}],
      ['git_diff_stat', {}],
      ['git_log', { revision: 'x'.repeat(4 * MB) }],
      ['start_task', { prompt: nested, path: nested }],
      ['no_such_tool', { x: 'x'.repeat(8 * MB) }],
    ];
    for (const [tool, args] of calls) {
      await bridge.mcp.callTool(tool, args).catch(() => undefined);
      await check(`${tool} ${JSON.stringify(args).slice(0, 80)}`);
    }
    await bridge.call('kill_task', { task_id: id });
  },
);

/** A repository with long lines, many long names, and a large change that is not committed. */
async function prepareProject(project: string): Promise<void> {
  await repository(project, { 'long.txt': 'before\n' });
  await writeFile(join(project, 'long.txt'), `${'a'.repeat(10 * MB)}\n${'a\n'.repeat(3 * MB)}`);
  // Below the 10 MB up to which files are searched; every literal of the expressions is in it.
  await writeFile(join(project, 'words.txt'), 'a b '.repeat(2_450_000));
  await mkdir(join(project, 'names'));
  for (let number = 0; number < 5_000; number++)
    await writeFile(join(project, 'names', `${'\u001b[31m\n'.repeat(30)}${number}`), '');
}
