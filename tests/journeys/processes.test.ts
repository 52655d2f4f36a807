// The specification of processes: "MCP Tools", "TTY Support", "Timeout Behavior", "Output Truncation". What it asks of containers
// needs an engine and is tested in the e2e tests of containers.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sharedBridge } from '../harness/start-bridge.js';

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

beforeAll(async () => {
  await bridge().call('set_active_project', { path: bridge().project });
});

async function spawn(args: Readonly<Record<string, unknown>>) {
  return stateSchema.parse(await bridge().call('spawn', args));
}

async function end(pid: string): Promise<void> {
  await bridge().call('kill', { pid, signal: 'SIGKILL' });
}

describe('spawn', () => {
  test('runs a command and gives its exit code, stdout and stderr', async () => {
    const ended = await spawn({ command: 'sh', args: ['-c', 'echo out; echo err >&2; exit 3'] });
    expect(ended).toMatchObject({ status: 'terminated', exit_code: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('runs it in cwd, with the variables of env', async () => {
    const cwd = await bridge().workplace.project('elsewhere');
    const command = { command: 'echo "$GREETING from $(pwd)"', shell: true };
    expect(await spawn({ ...command, cwd, env: { GREETING: 'hello' } })).toMatchObject({
      stdout: `hello from ${cwd}\n`,
    });
  });

  test('gives each process a pid of its own', async () => {
    const pids = [];
    for (const command of ['true', 'true', 'false']) pids.push((await spawn({ command })).pid);
    expect(new Set(pids).size).toBe(3);
  });

  test('lets a process go on in the background when it takes more than 10 seconds', async () => {
    const startMs = performance.now();
    const { pid, status } = await spawn({ command: 'sleep', args: ['600'] });
    const tookMs = performance.now() - startMs;
    expect(status).toBe('running');
    expect(tookMs).toBeGreaterThanOrEqual(DEFAULT_WAIT_MS);
    expect(tookMs).toBeLessThan(2 * DEFAULT_WAIT_MS);
    await end(pid);
  });

  test('waits as long as timeout_seconds says, 60 at most', async () => {
    const startMs = performance.now();
    const { pid, status } = await spawn({ command: 'sleep', args: ['600'], timeout_seconds: 1 });
    expect(status).toBe('running');
    expect(performance.now() - startMs).toBeLessThan(DEFAULT_WAIT_MS);
    await end(pid);
    expect(await bridge().refusal('spawn', { command: 'true', timeout_seconds: 61 })).toMatch(
      /^INVALID_ARGUMENTS: .*timeout_seconds/,
    );
  });

  test('with background waits for nothing', async () => {
    const startMs = performance.now();
    const { pid, status } = await spawn({ command: 'sleep', args: ['600'], background: true });
    expect(status).toBe('running');
    expect(performance.now() - startMs).toBeLessThan(DEFAULT_WAIT_MS / 2);
    await end(pid);
  });

  test('shows 8196 characters of a stream at most, and stdout has all of it', async () => {
    const numbers = Array.from({ length: 4_000 }, (_, n) => `${n + 1}\n`).join('');
    const ended = await spawn({ command: 'seq', args: ['4000'] });
    const shown = String(ended['stdout']);
    expect(shown.length).toBeLessThanOrEqual(MAX_SHOWN_CHARS);
    expect(shown.length).toBeGreaterThan(MAX_SHOWN_CHARS / 2);
    expect(shown).toContain('characters left out');
    expect(
      await bridge().call('stdout', { pid: ended.pid, lines: 10_000, max_bytes: 150_000 }),
    ).toMatchObject({
      text: numbers,
    });
  });

  test('of a program that is not there is an error', async () => {
    expect(await bridge().refusal('spawn', { command: 'no-such-program' })).toMatch(/^PROGRAM_NOT_FOUND: /);
  });

  test('does not read a command as a shell line unless it is asked to', async () => {
    expect(await spawn({ command: 'echo', args: ['$(echo run)', ';', 'echo'] })).toMatchObject({
      stdout: '$(echo run) ; echo\n',
    });
  });

  test('in mode docker says when no engine answers', async () => {
    expect(await bridge().refusal('spawn', { command: 'true', mode: 'docker' })).toMatch(
      /^DOCKER_UNAVAILABLE: .*\/nowhere\/docker\.sock/s,
    );
  });
});

describe('ps', () => {
  test('lists what runs and what ended lately, with command, folder and terminal', async () => {
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
});

describe('stdout', () => {
  test('gives the last 100 lines, or as many as lines says', async () => {
    const { pid } = await spawn({ command: 'seq', args: ['500'] });
    const linesOf = async (lines?: number) =>
      String((await bridge().call('stdout', { pid, lines }))['text'])
        .trim()
        .split('\n');
    const last = await linesOf();
    expect([last.length, last[0], last.at(-1)]).toEqual([100, '401', '500']);
    expect(await linesOf(3)).toEqual(['498', '499', '500']);
  });

  test('reads on from a cursor, given as a number or as text', async () => {
    const { pid } = await spawn({ command: 'seq', args: ['3'] });
    for (const cursor of [2, '2'])
      expect(await bridge().call('stdout', { pid, cursor })).toMatchObject({ text: '2\n3\n', cursor: 6 });
    expect(await bridge().refusal('stdout', { pid, cursor: 'x' })).toContain(
      'cursor must be an integer of at least 0 (got "x")',
    );
  });

  test('shows the output of a process that runs', async () => {
    const { pid } = await spawn({ command: 'echo first; exec sleep 600', shell: true, background: true });
    await expect
      .poll(() => bridge().call('stdout', { pid }))
      .toMatchObject({ text: 'first\n', status: 'running' });
    await end(pid);
  });
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
    await expect.poll(() => screen(pid)).toMatch(/^42$/m);
    await bridge().call('stdin', { pid, keys: ['ctrl-d'] });
    await expect
      .poll(() => bridge().call('stdout', { pid }))
      .toMatchObject({ status: 'terminated', exit_code: 0 });
  });

  test('a program of the whole screen is shown as it is seen, without escape codes, and takes arrows and Esc', async () => {
    const { pid } = await inTerminal(MENU);
    await expect.poll(() => screen(pid)).toContain('> one\n  two\n  three');
    await bridge().call('stdin', { pid, keys: ['down', 'down', 'up'] });
    await expect.poll(() => screen(pid)).toContain('  one\n> two\n  three');
    expect(await screen(pid)).not.toContain('\u001b');
    await bridge().call('stdin', { pid, keys: ['esc'] });
    await expect
      .poll(() => bridge().call('stdout', { pid }))
      .toMatchObject({ status: 'terminated', exit_code: 0 });
    const { text } = await bridge().call('stdout', { pid });
    expect(text).toContain('chosen 1');
    expect(text).not.toContain('\u001b');
  });

  test('Ctrl-C reaches the program of a terminal', async () => {
    const { pid } = await inTerminal(MENU);
    await expect.poll(() => screen(pid)).toContain('> one');
    await bridge().call('stdin', { pid, keys: ['ctrl-c'] });
    await expect
      .poll(() => bridge().call('stdout', { pid }))
      .toMatchObject({ status: 'terminated', exit_code: 7 });
  });

  test('keys are refused where there is no terminal, and text is taken', async () => {
    const { pid } = await spawn({ command: 'cat', background: true });
    expect(await bridge().refusal('stdin', { pid, keys: ['ctrl-c'] })).toMatch(/^NO_TERMINAL: /);
    expect(await bridge().call('stdin', { pid, text: 'hello\n' })).toMatchObject({ stdout: 'hello\n' });
    await end(pid);
  });
});

describe('kill', () => {
  test('ends a process with SIGTERM, or with the signal that is named', async () => {
    for (const [signal, sent] of [
      [undefined, 'SIGTERM'],
      ['SIGINT', 'SIGINT'],
      ['SIGKILL', 'SIGKILL'],
    ]) {
      const { pid } = await spawn({ command: 'sleep', args: ['600'], background: true });
      expect(await bridge().call('kill', { pid, signal })).toMatchObject({
        status: 'terminated',
        signal: sent,
      });
    }
  });

  test('ends what the process has started, too', async () => {
    const before = await bridge().workplace.processes();
    const { pid } = await spawn({
      command: 'setsid sleep 601 & sleep 602 & echo started; wait',
      shell: true,
      background: true,
    });
    await expect.poll(() => bridge().call('stdout', { pid })).toMatchObject({ text: 'started\n' });
    await expect.poll(async () => (await bridge().workplace.processes()).length).toBe(before.length + 3);
    await bridge().call('kill', { pid });
    await expect.poll(() => bridge().workplace.processes()).toEqual(before);
  });
});

test.each(['stdin', 'stdout', 'kill'])('%s of an unknown pid is an error', async (tool) => {
  expect(await bridge().refusal(tool, { pid: 'proc_nothing' })).toMatch(/^PROCESS_NOT_FOUND: /);
});

describe('the toolset', () => {
  test('alone offers the five tools of the specification', async () => {
    const alone = await bridge().another('modern', { env: { MCP_TOOLSETS: 'process' } });
    expect(await alone.mcp.listTools()).toEqual(
      expect.arrayContaining(['kill', 'ps', 'spawn', 'stdin', 'stdout']),
    );
    const cwd = join(bridge().project);
    expect(await alone.call('spawn', { command: 'pwd', cwd })).toMatchObject({ stdout: `${cwd}\n` });
  });

  test('runs in a container by a setting, without mode in the call, which may still say host', async () => {
    const noEngine = `unix://${join(bridge().workplace.root, 'no-engine.sock')}`;
    const env = { MCP_PROCESS_MODE: 'docker', DOCKER_HOST: noEngine };
    const client = await bridge().another('modern', { env });
    expect(await client.refusal('spawn', { command: 'true' })).toMatch(/^DOCKER_UNAVAILABLE: /);
    const cwd = bridge().project;
    expect(await client.call('spawn', { command: 'pwd', mode: 'host', cwd })).toMatchObject({
      stdout: `${cwd}\n`,
    });
  });

  test('alone names no tool that is not offered, and calls its argument cwd', async () => {
    const alone = await bridge().another('modern', { env: { MCP_TOOLSETS: 'process' } });
    const words = await alone.refusal('spawn', { command: 'true' });
    expect(words).toMatch(/^NO_ACTIVE_PROJECT: .*\bcwd\b/s);
    expect(words).not.toContain('set_active_project');
  });
});
