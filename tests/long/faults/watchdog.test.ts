import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { program } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { createWorkplace } from '../../harness/workplace.js';

/** Nothing may keep server or keeper from their timers, their sockets and their callers for longer. */
const LIMIT_MS = 1_000;
/** Beside other work each of some hundred requests takes a second. */
const TEST_LIMIT_MS = 300_000;
/** Twenty megabytes in one line take a minute beside other work. */
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
  readonly id: string;
  /** Fails when something took too long since the last check, with the name of what was done. */
  readonly check: (what: string) => Promise<void>;
  readonly home: string;
}

async function watched(more: Readonly<Record<string, unknown>>): Promise<Watched> {
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
    const long = blocks.filter(({ blockedMs }) => blockedMs > LIMIT_MS);
    expect({ what, long }).toEqual({ what, long: [] });
  };
  return { bridge, id: await bridge.start({ prompt: 'x', ...more }), check, home: workplace.homeDir };
}

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** `tool_input` as JSON text, each as large as a hook may be. */
const inputs: Readonly<Record<string, () => string>> = {
  'control characters': () =>
    JSON.stringify({ command: '\u0001'.repeat(MB), file_path: '\u0001'.repeat(200_000) }),
  'line ends': () => JSON.stringify({ command: '\n'.repeat(3 * MB) }),
  brackets: () => JSON.stringify({ command: '$('.repeat(100_000) }),
  'links in a path': () => JSON.stringify({ file_path: `/${'../'.repeat(3 * MB)}x`, content: '' }),
  'many fields': () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`f${i}`, '/x']))),
  'many questions': () =>
    JSON.stringify({
      questions: Array.from({ length: 50_000 }, () => ({ question: 'q', options: [{ label: 'l' }] })),
    }),
  'what nests as deep as it may': () => `{"list":${deep(150)}}`,
  'what nests deeper': () => `{"list":${deep(3 * MB)}}`,
};

/** Bytes that a program may print. */
const paintings: Readonly<Record<string, string>> = {
  lines: 'a line of text\r\n'.repeat(MB),
  'one line': 'x'.repeat(20 * MB),
  'a title without an end': `\x1b]0;${'x'.repeat(20 * MB)}`,
  'its end, and the last character, again and again': `\x1b\\\x18${'x\x1b[2147483647b'.repeat(100)}`,
  'large counts': [...'LM@PXSTABCDIZEFG'].map((final) => `\x1b[2147483647${final}`.repeat(1_000)).join(''),
  'tabs and wide characters': '\t\u{1f600}e\u0301'.repeat(MB),
  'another screen, again and again': '\x1b[?1049h\x1b[2J\x1b[?1049l'.repeat(200_000),
  questions: '\x1b[c\x1b[6n\x1b]11;?\x07'.repeat(100_000),
};

describe.runIf(process.platform === 'linux')('nothing blocks a keeper or server for a second', () => {
  it('that comes as the body of a hook', { timeout: TEST_LIMIT_MS }, async () => {
    const { bridge, id, check, home } = await watched({ permission_mode: 'cautious' });
    const told = (name: string): string => {
      const path = join(home, name);
      return existsSync(path) ? readFileSync(path, 'utf8') : '';
    };
    await until('the token', () => told('token') !== '');
    const url = /http:\/\/127\.0\.0\.1:\d+\/hooks/.exec(told('arguments'))?.[0] ?? '';
    const hungUp = new AbortController();
    const post = (fields: string): Promise<unknown> =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${told('token')}` },
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
      // Of each of these the input is read in another way.
      for (const tool of ['Bash', 'Write', 'AskUserQuestion']) {
        for (const event of ['PreToolUse', 'PermissionRequest', 'PostToolUse']) {
          const answered = post(`"hook_event_name":"${event}","tool_name":"${tool}","tool_input":${text}`);
          // What is asked waits for a person.
          await Promise.race([answered, new Promise((done) => setTimeout(done, 300))]);
          await check(`${event} of ${tool} with ${name}`);
        }
      }
    }
    const long = JSON.stringify('ä\u0001\n'.repeat(MB));
    const transcript = join(bridge.workplace.root, 'transcript.jsonl');
    const said = { type: 'assistant', message: { content: [{ type: 'text', text: 'x\u0001'.repeat(MB) }] } };
    const lines = `${'x'.repeat(20 * MB)}\n${`${deep(MB)}\n`.repeat(5)}${'{}\n'.repeat(500_000)}`;
    await writeFile(transcript, `${JSON.stringify(said)}\n${lines}`);
    const path = JSON.stringify(transcript);
    await post(`"hook_event_name":"Notification","message":${long},"transcript_path":${path}`);
    await check('a long notification and transcript');
    await post(`"hook_event_name":"StopFailure","error":${long},"last_assistant_message":${long}`);
    hungUp.abort();
    await check('a long last message');
    await bridge.call('kill_task', { task_id: id });
    await check('the end');
  });

  it('that a program prints', { timeout: TEST_LIMIT_MS }, async () => {
    const { bridge, id, check, home } = await watched({});
    for (const [number, [name, painting]] of Object.entries(paintings).entries()) {
      await writeFile(join(home, `.paint`), painting);
      await rename(join(home, '.paint'), join(home, `paint${number}`));
      await expect.poll(() => existsSync(join(home, `painted${number}`)), POLL).toBe(true);
      // All of it is on the screen by then.
      await bridge.output(id, 'screen');
      await check(name);
    }
    await bridge.call('kill_task', { task_id: id });
  });
});
