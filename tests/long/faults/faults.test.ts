import { chmod, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  agentNamedClaude,
  asksAboutPrompts,
  scriptedAgent,
  writeProgram,
} from '../../harness/scripted-agent.js';
import { startBridge, type BridgeOptions, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const MEMORY_LIMIT_MB = 150;
const asked = { MCP_RULES: JSON.stringify(asksAboutPrompts) };
/** Both ways in which a program is driven. */
const names = ['a program of another name', 'a program named claude'] as const;

async function bridgeWith(
  name: (typeof names)[number],
  more: Partial<BridgeOptions> = {},
): Promise<TestBridge> {
  if (name === names[0]) return startBridge({ claude: scriptedAgent, ...more });
  const workplace = await createWorkplace();
  return startBridge({ claude: await agentNamedClaude(workplace), workplace, ...more });
}

function agent(bridge: TestBridge, behaviour: string, more: Record<string, unknown> = {}): Promise<string> {
  return bridge.start({ prompt: `AGENT: ${behaviour}`, path: bridge.project, ...more });
}

async function untilPrinted(bridge: TestBridge, id: string, words: string): Promise<void> {
  await expect.poll(async () => (await bridge.output(id, 'screen')).text).toContain(words);
}

async function onlyTheServerLives(bridge: TestBridge): Promise<void> {
  await expect.poll(() => bridge.workplace.processes()).toEqual([bridge.mcp.pid]);
}

const recordSchema = z.looseObject({
  keeper: z.object({ pid: z.number() }),
  agent: z.object({ pid: z.number() }).nullable(),
  signal: z.string().nullable(),
  log_file: z.string(),
});

async function recordOf(bridge: TestBridge, id: string): Promise<z.infer<typeof recordSchema>> {
  const path = join(bridge.workplace.stateDir, 'tasks', id, 'record.json');
  return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}

async function peakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

describe.each(names)('%s', (name) => {
  /** Claude Code that leaves without a turn has done nothing. */
  const left = name === names[0] ? 'completed' : 'failed';

  it('that exits with 0 completes its task if it needs no turn, with any other code fails it', async () => {
    const bridge = await bridgeWith(name);
    const done = await bridge.end(await agent(bridge, 'exit 0'));
    expect(done).toMatchObject({ status: left, exit_code: 0, last_output: 'exiting with 0' });
    const failed = await bridge.end(await agent(bridge, 'exit 7'));
    expect(failed).toMatchObject({ status: 'failed', exit_code: 7 });
    expect(failed.reason).toContain('code 7: exiting with 7');
    expect(failed.hint).toBe(
      'Task failed with exit code 7. Review the error output above. get_task_result gives its receipt.',
    );
  });

  it('that dies in the middle of a line is told by its signal, and its last bytes are kept', async () => {
    const bridge = await bridgeWith(name);
    const id = await agent(bridge, 'dies-mid-line');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: null });
    expect(end.reason).toContain('SIGKILL');
    expect(end.last_output).toContain('half a li');
    expect(await recordOf(bridge, id)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('that ignores SIGTERM is killed, and of two kills at once both are told the one end', async () => {
    const bridge = await bridgeWith(name);
    const other = await bridge.another();
    const id = await agent(bridge, 'ignores-sigterm');
    await untilPrinted(bridge, id, 'READY');
    const kills = await Promise.allSettled([
      bridge.call('kill_task', { task_id: id }),
      other.call('kill_task', { task_id: id }),
    ]);
    for (const kill of kills) {
      if (kill.status === 'fulfilled') expect(kill.value).toMatchObject({ status: 'killed' });
      else expect(String(kill.reason)).toContain('TASK_NOT_RUNNING');
    }
    expect(kills.map(({ status }) => status)).toContain('fulfilled');
    expect((await bridge.events(id, 'ended')).length).toBe(1);
    const servers = [bridge.mcp.pid, other.mcp.pid].toSorted((one, two) => one - two);
    await expect.poll(() => bridge.workplace.processes()).toEqual(servers);
  });

  it('that never exits is killed when asked', async () => {
    const bridge = await bridgeWith(name);
    const id = await agent(bridge, 'never-exits');
    await untilPrinted(bridge, id, 'working');
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    expect(await bridge.status(id)).toMatchObject({ status: 'killed' });
  });

  it('that leaves a daemon has it ended before its project is free', async () => {
    const bridge = await bridgeWith(name);
    const id = await agent(bridge, 'forks-daemon');
    expect(await bridge.end(id)).toMatchObject({ status: left });
    const log = (await bridge.output(id, 'log')).text;
    expect(log).toMatch(/Ended \d+ process(es)? that still ran: \w/);
    await onlyTheServerLives(bridge);
    expect(await bridge.end(await agent(bridge, 'exit'))).toMatchObject({ status: left });
  });

  it('that prints what looks like a dialog gets no key', async () => {
    const bridge = await bridgeWith(name);
    const end = await bridge.end(await agent(bridge, 'forged-dialog 1'));
    expect(end.last_output).toContain('NO KEY CAME');
  });

  it('whose keeper is killed ends as error, and nothing of it is left', async () => {
    const bridge = await bridgeWith(name);
    const id = await agent(bridge, 'ignores-sigterm');
    await untilPrinted(bridge, id, 'READY');
    process.kill((await recordOf(bridge, id)).keeper.pid, 'SIGKILL');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'error', exit_code: null });
    expect(end.reason).toContain('The process that kept this task ended without a word');
    await onlyTheServerLives(bridge);
    expect(await bridge.end(await agent(bridge, 'exit'))).toMatchObject({ status: left });
  });
});

describe('a program of another name', () => {
  it('that floods the terminal loses no line of its log, and costs little memory', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_MAX_LOG_SIZE: '100000000' } });
    const id = await agent(bridge, 'floods 20');
    let peak = 0;
    const { keeper } = await recordOf(bridge, id);
    await bridge.until(id, async (view) => {
      peak = Math.max(peak, await peakMegabytes(keeper.pid));
      return view.status === 'completed';
    });
    const log = await readFile((await recordOf(bridge, id)).log_file, 'utf8');
    const numbers = [...log.matchAll(/^line (\d{9}) x{84}$/gm)].map((match) => Number(match[1]));
    const lineBytes = 100;
    expect(numbers).toHaveLength(Math.ceil((20 * 1024 * 1024) / lineBytes));
    expect(numbers.every((number, index) => number === index)).toBe(true);
    expect(log).toContain('FLOOD END');
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(MEMORY_LIMIT_MB);
    expect(await peakMegabytes(bridge.mcp.pid)).toBeLessThan(MEMORY_LIMIT_MB);
  });

  it('that prints more than its log holds keeps the newest of it, and the log says what is gone', async () => {
    const sizeBytes = 20_000;
    const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_MAX_LOG_SIZE: `${sizeBytes}` } });
    const id = await agent(bridge, 'floods 1');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const { log_file: path } = await recordOf(bridge, id);
    const [older, newer] = [await readFile(`${path}.1`, 'utf8'), await readFile(path, 'utf8')];
    expect(older.length + newer.length).toBeGreaterThanOrEqual(sizeBytes);
    expect(newer).toMatch(/^\[The log was rotated: its first \d+ bytes are gone\]\n/);
    const numbers = [...(older + newer).matchAll(/^line (\d{9}) x{84}$/gm)].map((match) => Number(match[1]));
    const last = Math.ceil((1024 * 1024) / 100) - 1;
    expect(numbers.at(-1)).toBe(last);
    expect(older + newer).toContain('FLOOD END');
  });

  it('gets yes for a prompt that it writes letter by letter', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await agent(bridge, 'split-prompt');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await bridge.output(id, 'log')).text).toContain('GOT:y');
    expect(await bridge.events(id, 'decision-closed')).toMatchObject([
      { verdict: 'allow', answered_by: 'rule' },
    ]);
  });

  it('gets one answer for a prompt that it paints ten times', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await agent(bridge, 'repaints-prompt');
    const end = await bridge.end(id);
    expect(end.last_output).toContain('GOT:y');
    expect(end.last_output).toContain('ANSWERS:1');
  });

  it.each([
    { verdict: 'allow', got: 'GOT:y' },
    { verdict: 'deny', got: 'GOT:n' },
  ])('asks the caller where a rule says so: $verdict', async ({ verdict, got }) => {
    const bridge = await startBridge({ claude: scriptedAgent, env: asked });
    const id = await agent(bridge, 'split-prompt');
    const decision = await bridge.answerNext(id, { verdict });
    expect(decision.summary).toContain('Do you want to proceed? [y/N]');
    const again = { task_id: id, decision_id: decision.decision_id, verdict: 'allow' };
    expect(await bridge.refusal('respond_to_task', again)).toMatch(/^(DECISION_CLOSED|TASK_NOT_RUNNING): /);
    expect((await bridge.end(id)).last_output).toContain(got);
  });

  it('is refused in modes cautious and sandboxed, and leaves nothing', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const common = { prompt: 'AGENT: exit 0', path: bridge.project };
    expect(await bridge.refusal('start_task', { ...common, permission_mode: 'cautious' })).toMatch(
      /^TASK_START_FAILED: .*is not Claude Code/,
    );
    expect(await bridge.refusal('start_task', { ...common, permission_mode: 'sandboxed' })).toMatch(
      /^SANDBOX_UNAVAILABLE: .*not Claude Code/,
    );
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
    expect(await readdir(bridge.project)).toEqual([]);
  });

  it('finds a terminal that answers, and its whole prompt on stdin', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await agent(bridge, 'asks-terminal');
    expect((await bridge.end(id)).last_output).toMatch(/TERMINAL SAID:"\\u001b\[\?/);
    const prompt = `AGENT: echo\n--flag "$(x)" \`y\` é☃\n${'0123456789\n'.repeat(10_000)}`;
    const echo = await bridge.start({ prompt, path: bridge.project });
    expect((await bridge.end(echo)).last_output).toContain(`BYTES:${Buffer.byteLength(prompt)}`);
  });
});

it('twenty tasks at once all end as they should, each in its own project', async () => {
  const projects = Array.from({ length: 20 }, (_, number) => `p${number}`);
  const bridge = await startBridge({ claude: scriptedAgent, projects });
  const ids = await Promise.all(
    bridge.projects.map((path, number) => bridge.start({ prompt: `AGENT: exit ${number % 2}`, path })),
  );
  const ends = await Promise.all(ids.map((id) => bridge.end(id)));
  expect(ends.map(({ status }) => status)).toEqual(
    projects.map((_, number) => (number % 2 === 0 ? 'completed' : 'failed')),
  );
  expect(new Set(ids).size).toBe(20);
  const page = await bridge.call('list_tasks', { limit: 7, status: 'finished' });
  expect(page).toHaveProperty('cursor');
});

describe('a command that cannot be run', () => {
  it.each([
    {
      what: 'a missing path',
      command: '/nowhere/claude',
      refusal: /^CLAUDE_NOT_FOUND: .*'\/nowhere\/claude'/,
    },
    {
      what: 'a missing name',
      command: 'no-such-claude',
      refusal: /^CLAUDE_NOT_FOUND: .*PATH.*MCP_CLAUDE_COMMAND/s,
    },
  ])('is told at once: $what', async ({ command, refusal }) => {
    const bridge = await startBridge({ claude: command });
    expect(await bridge.refusal('start_task', { prompt: 'Hello.', path: bridge.project })).toMatch(refusal);
    expect(await readdir(bridge.project)).toEqual([]);
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
  });

  it('is told at once: a file that is not executable', async () => {
    const workplace = await createWorkplace();
    const claude = await writeProgram(workplace, 'claude', 'exit 0');
    await chmod(claude, 0o644);
    const bridge = await startBridge({ claude, workplace });
    expect(await bridge.refusal('start_task', { prompt: 'Hello.', path: bridge.project })).toMatch(
      /^CLAUDE_NOT_EXECUTABLE: .*chmod \+x/,
    );
    expect(await readdir(bridge.project)).toEqual([]);
  });

  it('fails the task with its own words: the stub of an installation without scripts', async () => {
    const workplace = await createWorkplace();
    const words = 'Error: claude native binary not installed.';
    const claude = await writeProgram(workplace, 'claude', `echo '${words}' >&2; exit 1`);
    const bridge = await startBridge({ claude, workplace });
    const end = await bridge.end(await bridge.start({ prompt: 'Hello.', path: bridge.project }));
    expect(end).toMatchObject({ status: 'failed', exit_code: 1 });
    expect(end.reason).toContain(words);
  });

  it('fails the task with words: a file that no system can execute', async () => {
    const workplace = await createWorkplace();
    const claude = join(workplace.root, 'claude');
    await writeFile(claude, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]), { mode: 0o755 });
    const bridge = await startBridge({ claude, workplace });
    const started = await bridge.mcp.callTool('start_task', { prompt: 'Hello.', path: bridge.project });
    if (started.isError !== true) {
      const [task] = z
        .looseObject({ tasks: z.array(z.looseObject({ task_id: z.string() })) })
        .parse(await bridge.call('list_tasks')).tasks;
      const end = await bridge.end(task?.task_id ?? '');
      expect(end.status).toBe('failed');
      expect(end.reason).toMatch(/exec|format|126|127/i);
    }
  });
});
