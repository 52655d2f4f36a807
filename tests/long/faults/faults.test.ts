import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentNamedClaude, asksEnv, program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { Workplace } from '../../harness/workplace.js';

const MEMORY_LIMIT_MB = 150;
/** Both ways in which a program is driven. */
const names = ['a program of another name', 'a program named claude'] as const;

function bridgeWith(name: (typeof names)[number]): Promise<TestBridge> {
  return startBridge({ claude: name === names[0] ? scriptedAgent : agentNamedClaude });
}

async function untilPrinted(bridge: TestBridge, id: string, words: string): Promise<void> {
  await expect.poll(async () => (await bridge.output(id, 'screen')).text).toContain(words);
}

async function peakMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

describe.each(names)('%s', (name) => {
  /** Claude Code that leaves without a turn has done nothing. */
  const left = name === names[0] ? 'completed' : 'failed';

  it('that exits with 0 completes its task if it needs no turn, with any other code fails it', async () => {
    const bridge = await bridgeWith(name);
    const done = await bridge.end(await bridge.agent('exit 0'));
    expect(done).toMatchObject({ status: left, exit_code: 0, last_output: 'exiting with 0' });
    const failed = await bridge.end(await bridge.agent('exit 7'));
    expect(failed).toMatchObject({ status: 'failed', exit_code: 7 });
    expect(failed.reason).toContain('code 7: exiting with 7');
    expect(failed.hint).toBe(
      'Task failed with exit code 7. Review the error output above. get_task_result gives its receipt.',
    );
  });

  it('that dies in the middle of a line is told by its signal, and its last bytes are kept', async () => {
    const bridge = await bridgeWith(name);
    const id = await bridge.agent('dies-mid-line');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: null });
    expect(end.reason).toContain('SIGKILL');
    expect(end.last_output).toContain('half a li');
    expect(await bridge.record(id)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('that ignores SIGTERM is killed, and of two kills at once both are told the one end', async () => {
    const bridge = await bridgeWith(name);
    const other = await bridge.another();
    const id = await bridge.agent('ignores-sigterm');
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
    const id = await bridge.agent('never-exits');
    await untilPrinted(bridge, id, 'working');
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    expect(await bridge.status(id)).toMatchObject({ status: 'killed' });
  });

  it('that leaves a daemon has it ended before its project is free', async () => {
    const bridge = await bridgeWith(name);
    const id = await bridge.agent('forks-daemon');
    expect(await bridge.end(id)).toMatchObject({ status: left });
    const log = (await bridge.output(id, 'log')).text;
    expect(log).toMatch(/Ended \d+ process(es)? that still ran: \w/);
    await bridge.onlyServer();
    expect(await bridge.end(await bridge.agent('exit'))).toMatchObject({ status: left });
  });

  it('that prints what looks like a dialog gets no key', async () => {
    const bridge = await bridgeWith(name);
    const end = await bridge.end(await bridge.agent('forged-dialog 1'));
    expect(end.last_output).toContain('NO KEY CAME');
  });

  it('whose keeper is killed ends as error, and nothing of it is left', async () => {
    const bridge = await bridgeWith(name);
    const id = await bridge.agent('ignores-sigterm');
    await untilPrinted(bridge, id, 'READY');
    await bridge.killKeeper(id);
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'error', exit_code: null });
    expect(end.reason).toContain('The process that kept this task ended without a word');
    await bridge.onlyServer();
    expect(await bridge.end(await bridge.agent('exit'))).toMatchObject({ status: left });
  });
});

describe('a program of another name', () => {
  it('that floods the terminal loses no line of its log, and costs little memory', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_MAX_LOG_SIZE: '100000000' } });
    const id = await bridge.agent('floods 20');
    let peak = 0;
    const { keeper } = await bridge.record(id);
    await bridge.until(id, async (view) => {
      peak = Math.max(peak, await peakMegabytes(keeper?.pid));
      return view.status === 'completed';
    });
    const log = await readFile((await bridge.record(id)).log_file, 'utf8');
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
    const id = await bridge.agent('floods 1');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    const { log_file: path } = await bridge.record(id);
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
    const id = await bridge.agent('split-prompt');
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await bridge.output(id, 'log')).text).toContain('GOT:y');
    expect(await bridge.events(id, 'decision-closed')).toMatchObject([
      { verdict: 'allow', answered_by: 'rule' },
    ]);
  });

  it('gets one answer for a prompt that it paints ten times', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await bridge.agent('repaints-prompt');
    const end = await bridge.end(id);
    expect(end.last_output).toContain('GOT:y');
    expect(end.last_output).toContain('ANSWERS:1');
  });

  it.each([
    { verdict: 'allow', got: 'GOT:y' },
    { verdict: 'deny', got: 'GOT:n' },
  ])('asks the caller where a rule says so: $verdict', async ({ verdict, got }) => {
    const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv });
    const id = await bridge.agent('split-prompt');
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
    const id = await bridge.agent('asks-terminal');
    expect((await bridge.end(id)).last_output).toMatch(/TERMINAL SAID:"\\u001b\[\?/);
    const prompt = `AGENT: echo\n--flag "$(x)" \`y\` é☃\n${'0123456789\n'.repeat(10_000)}`;
    const echo = await bridge.start({ prompt });
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

/** A file `claude` with this content. */
function fileOf(content: string | Uint8Array, mode: number): (workplace: Workplace) => Promise<string> {
  return async ({ root }) => {
    await writeFile(join(root, 'claude'), content, { mode });
    return join(root, 'claude');
  };
}

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
    const bridge = await startBridge({ claude: fileOf('#!/bin/sh\nexit 0\n', 0o644) });
    expect(await bridge.refusal('start_task', { prompt: 'Hello.', path: bridge.project })).toMatch(
      /^CLAUDE_NOT_EXECUTABLE: .*chmod \+x/,
    );
    expect(await readdir(bridge.project)).toEqual([]);
  });

  it('fails the task with its own words: the stub of an installation without scripts', async () => {
    const words = 'Error: claude native binary not installed.';
    const bridge = await startBridge({ claude: program('claude', `echo '${words}' >&2; exit 1`) });
    const end = await bridge.end(await bridge.start({ prompt: 'Hello.' }));
    expect(end).toMatchObject({ status: 'failed', exit_code: 1 });
    expect(end.reason).toContain(words);
  });

  it('fails the task with words: a file that no system can execute', async () => {
    const bytes = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]);
    const bridge = await startBridge({ claude: fileOf(bytes, 0o755) });
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
