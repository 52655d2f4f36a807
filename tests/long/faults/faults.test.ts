import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentNamedClaude, program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const MEMORY_LIMIT_MB = 150;

async function untilPrinted(bridge: TestBridge, id: string, words: string): Promise<void> {
  await expect.poll(async () => (await bridge.output(id, 'screen')).text).toContain(words);
}

async function peakMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

describe('a program named claude', () => {
  it('that leaves without a turn has failed, with any code', async () => {
    const bridge = await startBridge({ claude: agentNamedClaude });
    const done = await bridge.end(await bridge.agent('exit 0'));
    expect(done).toMatchObject({ status: 'failed', exit_code: 0, last_output: 'exiting with 0' });
    const failed = await bridge.end(await bridge.agent('exit 7'));
    expect(failed).toMatchObject({ status: 'failed', exit_code: 7 });
    expect(failed.reason).toContain('code 7: exiting with 7');
    expect(failed.hint).toBe(
      'Task failed with exit code 7. Review the error output above. get_task_result gives its receipt.',
    );
  });
});

describe.each([
  { name: 'another name', claude: scriptedAgent, left: 'completed' },
  { name: 'the name claude', claude: agentNamedClaude, left: 'failed' },
])('a program of $name', ({ claude, left }) => {
  it('that dies in the middle of a line is told by its signal, and its last bytes are kept', async () => {
    const bridge = await startBridge({ claude });
    const id = await bridge.agent('dies-mid-line');
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: null });
    expect(end.reason).toContain('SIGKILL');
    expect(end.last_output).toContain('half a li');
    expect(await bridge.record(id)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('that ignores SIGTERM is killed, and of two kills at once both are told the one end', async () => {
    const bridge = await startBridge({ claude });
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

  it('that leaves a daemon has it ended before its project is free', async () => {
    const bridge = await startBridge({ claude });
    const id = await bridge.agent('forks-daemon');
    expect(await bridge.end(id)).toMatchObject({ status: left });
    const log = (await bridge.output(id, 'log')).text;
    expect(log).toMatch(/Ended \d+ process(es)? that still ran: \w/);
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
});

describe('a command that cannot be run', () => {
  it('is told at once: a file that is not executable', async () => {
    const bridge = await startBridge({
      claude: async ({ root }) => {
        await writeFile(join(root, 'claude'), '#!/bin/sh\nexit 0\n', { mode: 0o644 });
        return join(root, 'claude');
      },
    });
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
});
