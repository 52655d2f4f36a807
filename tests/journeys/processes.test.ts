// The specification of processes: "MCP Tools", "TTY Support", "Timeout Behavior", "Output Truncation". What it asks of containers
// needs an engine and is tested in tests/long/docker.
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';

const bridge = sharedBridge({
  claude: process.execPath,
  env: { MCP_TOOLSETS: 'process,project', DOCKER_HOST: 'unix:///nowhere/docker.sock' },
});

const stateSchema = z.looseObject({ pid: z.string(), status: z.enum(['running', 'terminated']) });
const listSchema = z.object({
  processes: z.array(z.looseObject({ pid: z.string(), status: z.enum(['running', 'terminated']) })),
});
const MAX_SHOWN_CHARS = 8_196;
const DEFAULT_WAIT_MS = 10_000;

/** Draws a menu on the whole screen, moves its mark with the arrows, and leaves it with Esc; Ctrl-C ends it with 7. */
const MENU = `
  let at = 0;
  const draw = () => process.stdout.write('\\u001b[2J\\u001b[H' + ['one', 'two', 'three'].map((word, n) => (n === at ? '\\u001b[7m> ' : '  ') + word + '\\u001b[0m').join('\\r\\n'));
  process.stdout.write('\\u001b[?1049h');
  process.stdin.setRawMode(true);
  const press = (key) => {
    if (key === '\\u0003') process.exit(7);
    if (key === '\\u001b') { process.stdout.write('\\u001b[?1049lchosen ' + at); process.exit(0); }
    if (key === '\\u001b[B') at++;
    if (key === '\\u001b[A') at--;
    draw();
  };
  process.stdin.on('data', (data) => String(data).match(/\\u001b\\[[AB]|[^]/g).forEach(press));
  draw();
`;

/** Started first, looked at last: it takes the time that a call waits. */
let longest: Promise<{ readonly pid: string; readonly status: string; readonly tookMs: number }>;

beforeAll(async () => {
  await bridge().call('set_active_project', { path: bridge().project });
  longest = timed({ command: 'sleep', args: ['600'] });
});

async function spawn(args: Readonly<Record<string, unknown>>) {
  return stateSchema.parse(await bridge().call('spawn', args));
}

async function timed(args: Readonly<Record<string, unknown>>) {
  const startMs = performance.now();
  return { ...(await spawn(args)), tookMs: performance.now() - startMs };
}

/** A process that ends by itself. */
async function ended(pid: string, exit_code: number): Promise<void> {
  await until(`an end with ${exit_code}`, async () =>
    expect(await bridge().call('stdout', { pid })).toMatchObject({ status: 'terminated', exit_code }),
  );
}

async function end(pid: string): Promise<void> {
  await bridge().call('kill', { pid, signal: 'SIGKILL' });
}

describe('spawn', () => {
  test('runs a command with its arguments as they are, or a shell line if asked to, in cwd, with env, and gives exit code, stdout and stderr', async () => {
    const script = 'echo "$1 $2"; echo err >&2; exit 3';
    const one = await spawn({ command: 'sh', args: ['-c', script, 'sh', '$(echo run)', ';'] });
    expect(one).toMatchObject({
      status: 'terminated',
      exit_code: 3,
      stdout: '$(echo run) ;\n',
      stderr: 'err\n',
    });
    const cwd = await bridge().newProject('elsewhere');
    const line = { command: 'echo "$GREETING from $(pwd)"', shell: true };
    const two = await spawn({ ...line, cwd, env: { GREETING: 'hello' } });
    expect(two).toMatchObject({ stdout: `hello from ${cwd}\n` });
    expect(two.pid).not.toBe(one.pid);
  });

  test('waits as long as timeout_seconds says, or with background for nothing, and lets the process go on', async () => {
    const sleep = { command: 'sleep', args: ['600'] };
    const waits = await Promise.all([
      timed({ ...sleep, timeout_seconds: 1 }),
      timed({ ...sleep, background: true }),
    ]);
    for (const { pid, status, tookMs } of waits) {
      expect(status).toBe('running');
      expect(tookMs).toBeLessThan(DEFAULT_WAIT_MS);
      await end(pid);
    }
  });

  test('shows 8196 characters of a stream at most, and stdout has all of it', async () => {
    const numbers = Array.from({ length: 4_000 }, (_, n) => `${n + 1}\n`).join('');
    const { pid, ...ended } = await spawn({ command: 'seq', args: ['4000'] });
    const shown = String(ended['stdout']);
    expect(shown.length).toBeLessThanOrEqual(MAX_SHOWN_CHARS);
    expect(shown.length).toBeGreaterThan(MAX_SHOWN_CHARS / 2);
    expect(shown).toContain('characters left out');
    expect(await bridge().call('stdout', { pid, lines: 10_000, max_bytes: 150_000 })).toMatchObject({
      text: numbers,
    });
  });

  test('in a container, by mode or by a setting, says when no engine answers, and may say host', async () => {
    expect(await bridge().refusal('spawn', { command: 'true', mode: 'docker' })).toMatch(
      /^DOCKER_UNAVAILABLE: .*\/nowhere\/docker\.sock/s,
    );
    const client = await bridge().another('modern', { env: { MCP_PROCESS_MODE: 'docker' } });
    expect(await client.refusal('spawn', { command: 'true' })).toMatch(/^DOCKER_UNAVAILABLE: /);
    const cwd = bridge().project;
    expect(await client.call('spawn', { command: 'pwd', mode: 'host', cwd })).toMatchObject({
      stdout: `${cwd}\n`,
    });
  });
});

test('ps lists what runs and what ended lately, with command, folder and terminal', async () => {
  const running = await spawn({ command: 'sleep', args: ['600'], background: true });
  const ended = await spawn({ command: 'sh', args: ['-c', 'exit 7'] });
  const { processes } = listSchema.parse(await bridge().call('ps'));
  expect(processes.find(({ pid }) => pid === running.pid)).toMatchObject({
    status: 'running',
    command: 'sleep 600',
    cwd: bridge().project,
    tty: false,
    mode: 'host',
  });
  expect(processes.find(({ pid }) => pid === ended.pid)).toMatchObject({
    status: 'terminated',
    exit_code: 7,
  });
  await end(running.pid);
});

test('stdout gives the last 100 lines, or as many as lines says, or what comes after a cursor, a number or a text, and of what runs, too', async () => {
  const { pid } = await spawn({ command: 'seq', args: ['500'] });
  const linesOf = async (lines?: number) =>
    String((await bridge().call('stdout', { pid, lines }))['text'])
      .trim()
      .split('\n');
  const last = await linesOf();
  expect([last.length, last[0], last.at(-1)]).toEqual([100, '401', '500']);
  expect(await linesOf(3)).toEqual(['498', '499', '500']);
  const three = await spawn({ command: 'seq', args: ['3'] });
  for (const cursor of [2, '2'])
    expect(await bridge().call('stdout', { pid: three.pid, cursor })).toMatchObject({
      text: '2\n3\n',
      cursor: 6,
    });
  const running = await spawn({ command: 'echo first; exec sleep 600', shell: true, background: true });
  await until('its first line', async () =>
    expect(await bridge().call('stdout', { pid: running.pid })).toMatchObject({
      text: 'first\n',
      status: 'running',
    }),
  );
  await end(running.pid);
});

describe('terminals', () => {
  const inTerminal = (script: string) =>
    spawn({ command: process.execPath, args: ['-e', script], tty: true, background: true });
  const screen = async (pid: string) =>
    String((await bridge().call('stdout', { pid, screen: true }))['screen']);

  test('a REPL takes lines and shows what they give', async () => {
    const { pid } = await spawn({
      command: process.execPath,
      args: ['-i'],
      tty: true,
      timeout_seconds: 1,
      env: { NODE_REPL_HISTORY: '' },
    });
    await bridge().call('stdin', {
      pid,
      text: '6 * 7',
      keys: ['enter'],
      wait_for: '^42',
      timeout_seconds: 30,
    });
    // The prompt shows what will come of it before it is entered, and takes that away again.
    await until('the answer', async () => expect(await screen(pid)).toMatch(/^42$/m));
    await bridge().call('stdin', { pid, keys: ['ctrl-d'] });
    await ended(pid, 0);
  });

  test('what a terminal drops of a long line is said', async () => {
    const script = 'read -r line; printf "GOT %s" "${#line}"';
    const { pid } = await spawn({ command: 'sh', args: ['-c', script], tty: true, background: true });
    const text = `${'x'.repeat(10_000)}\n`;
    const answer = await bridge().call('stdin', { pid, text, wait_for: 'GOT', timeout_seconds: 30 });
    expect(answer['note']).toContain('The text has a line of 10000 bytes. A terminal in line mode drops');
    expect(JSON.stringify(answer)).toContain('GOT 4095');
    await ended(pid, 0);
  });

  test('a program of the whole screen is shown as it is seen, without escape codes, and takes arrows, Esc and Ctrl-C', async () => {
    const { pid } = await inTerminal(MENU);
    await until('the menu', async () => expect(await screen(pid)).toContain('> one\n  two\n  three'));
    await bridge().call('stdin', { pid, keys: ['down', 'down', 'up'] });
    await until('the moved mark', async () => expect(await screen(pid)).toContain('  one\n> two\n  three'));
    expect(await screen(pid)).not.toContain('\u001b');
    await bridge().call('stdin', { pid, keys: ['esc'] });
    await ended(pid, 0);
    const { text } = await bridge().call('stdout', { pid });
    expect(text).toContain('chosen 1');
    expect(text).not.toContain('\u001b');
    const other = await inTerminal(MENU);
    await until('the menu', async () => expect(await screen(other.pid)).toContain('> one'));
    await bridge().call('stdin', { pid: other.pid, keys: ['ctrl-c'] });
    await ended(other.pid, 7);
  });
});

describe('kill', () => {
  test('ends a process with SIGTERM, or with the signal that is named', async () => {
    const sent = [];
    for (const signal of [undefined, 'SIGINT', 'SIGKILL']) {
      const { pid } = await spawn({ command: 'sleep', args: ['600'], background: true });
      sent.push(await bridge().call('kill', { pid, signal }));
    }
    expect(sent).toMatchObject(
      ['SIGTERM', 'SIGINT', 'SIGKILL'].map((signal) => ({ status: 'terminated', signal })),
    );
  });
});

test('a process outlives its server if it is to be kept: another server types into it and sees its end', async () => {
  const first = await bridge().another();
  const { pid } = stateSchema.parse(
    await first.call('spawn', {
      command: 'while read -r x; do echo "got $x"; done; exit 5',
      cwd: bridge().project,
      shell: true,
      keep: true,
      background: true,
    }),
  );
  await first.call('stdin', { pid, text: 'one\n' });
  await first.mcp.close();
  const { processes } = listSchema.parse(await bridge().call('ps'));
  expect(processes.find((one) => one.pid === pid)).toMatchObject({ status: 'running', keep: true });
  expect(await bridge().call('stdin', { pid, text: 'two\n' })).toMatchObject({ stdout: 'got two\n' });
  expect(await bridge().call('stdout', { pid })).toMatchObject({ text: 'got one\ngot two\n' });
  expect(await bridge().call('stdin', { pid, eof: true })).toMatchObject({
    status: 'terminated',
    exit_code: 5,
  });
});

test('what cannot be meant is refused by name', async () => {
  const { pid } = await spawn({ command: 'cat', background: true });
  const unknown = { pid: 'proc_nothing' };
  const refused = [];
  for (const [tool, args] of [
    ['spawn', { command: 'no-such-program' }],
    ['spawn', { command: 'ls', cwd: '/' }],
    ['spawn', { command: 'true', timeout_seconds: 61 }],
    ['stdout', { pid, cursor: 'x' }],
    ['stdin', { pid, keys: ['ctrl-c'] }],
    ['stdin', unknown],
    ['stdout', unknown],
    ['kill', unknown],
  ] as const) {
    const [words = ''] = (await bridge().refusal(tool, args)).split('\n');
    refused.push(words);
  }
  expect(refused).toEqual([
    expect.stringMatching(/^PROGRAM_NOT_FOUND: /),
    expect.stringMatching(/^PATH_NOT_ALLOWED: /),
    expect.stringMatching(/^INVALID_ARGUMENTS: .*timeout_seconds/),
    expect.stringContaining('cursor must be an integer of at least 0 (got "x")'),
    // A pipe takes text alone.
    expect.stringMatching(/^NO_TERMINAL: /),
    expect.stringMatching(/^PROCESS_NOT_FOUND: /),
    expect.stringMatching(/^PROCESS_NOT_FOUND: /),
    expect.stringMatching(/^PROCESS_NOT_FOUND: /),
  ]);
  expect(await bridge().call('stdin', { pid, text: 'hello\n' })).toMatchObject({ stdout: 'hello\n' });
  await end(pid);
});

test('the toolset alone offers the five tools of the specification, and names no tool that is not offered', async () => {
  const alone = await bridge().another('modern', { env: { MCP_TOOLSETS: 'process' } });
  expect(await alone.mcp.listTools()).toEqual(
    expect.arrayContaining(['kill', 'ps', 'spawn', 'stdin', 'stdout']),
  );
  const cwd = bridge().project;
  expect(await alone.call('spawn', { command: 'pwd', cwd })).toMatchObject({ stdout: `${cwd}\n` });
  const words = await alone.refusal('spawn', { command: 'true' });
  expect(words).toMatch(/^NO_ACTIVE_PROJECT: .*\bcwd\b/s);
  expect(words).not.toContain('set_active_project');
});

test('a process that takes more than 10 seconds goes on in the background', async () => {
  const { pid, status, tookMs } = await longest;
  expect(status).toBe('running');
  expect(tookMs).toBeGreaterThanOrEqual(DEFAULT_WAIT_MS);
  expect(tookMs).toBeLessThan(2 * DEFAULT_WAIT_MS);
  await end(pid);
});
