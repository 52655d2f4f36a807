import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandOf, markedProcesses } from '../../harness/marked-processes.js';
import { quickAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { createWorkplace } from '../../harness/workplace.js';

const liar = fileURLToPath(new URL('../../fixtures/programs/lying-bridge.mjs', import.meta.url));
const MAX_MEMORY_KB = 400 * 1024;
/** A machine that does not answer holds up no list for long. */
const LIST_LIMIT_MS = 15_000;
/** More than any answer of these tests that nothing has made longer. */
const MAX_ANSWER_CHARS = 300_000;

/** In answers, which are refused or cut. */
const answers = [
  'texts of 5 MB',
  'ids that are paths',
  'ids of another machine',
  'ids that nothing has',
  'dates that are none',
  'a newer protocol',
  'a protocol that is no number',
];
/** Over which the line is ended, again each time it is opened. */
const lines = [
  'a line without end',
  'short lines without end',
  'notices without end',
  'answers to nothing without end',
  'requests without end',
  'no answer after the first',
  'answers with another id',
];

describe('a far side that lies', () => {
  it.each([...answers, ...lines])('by %s does no harm to what is here', async (lie) => {
    const bridge = await bridgeWith(lie);
    const here = await bridge.start({ prompt: 'AGENT: exit 0' });
    await bridge.end(here);
    const beganMs = performance.now();
    const results = [await bridge.mcp.callTool('list_tasks', {})];
    expect(performance.now() - beganMs).toBeLessThan(LIST_LIMIT_MS);
    expect(results[0]?.structuredContent).toMatchObject({ tasks: [{ task_id: here }] });
    const start = { machine: 'liar', path: bridge.project, prompt: 'AGENT: exit 0' };
    // A call to a machine whose line is cut waits for it.
    if (answers.includes(lie)) results.push(await bridge.mcp.callTool('start_task', start));
    for (const { content } of results) {
      const text = content.map((block) => block.text ?? '').join('\n');
      expect(text.length).toBeLessThan(MAX_ANSWER_CHARS);
      expect(text).not.toMatch(/task_id\W+(other\/|\.\.)/);
    }
    expect(await bridge.status(here)).toMatchObject({ status: 'completed' });
    expect(await peakMemoryKb(bridge.mcp.pid)).toBeLessThan(MAX_MEMORY_KB);
    if (lines.includes(lie))
      await until('its process has been ended', async () => expect(await liars(bridge)).toEqual([]));
  });

  it.each(['a newer build', 'fields that are not known'])('by %s is spoken to', async (lie) => {
    const bridge = await bridgeWith(lie);
    const id = await bridge.start({ machine: 'liar', path: bridge.project, prompt: 'AGENT: exit 0' });
    expect(id).toMatch(/^liar\/task_/);
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(await bridge.ids()).toEqual([id]);
  });

  it('by escape sequences in its texts moves no cursor and sets no title', async () => {
    const bridge = await bridgeWith('escapes in texts');
    const id = await bridge.start({ machine: 'liar', path: bridge.project, prompt: 'AGENT: exit 0' });
    await bridge.end(id);
    const printed = [
      ...(await Promise.all([
        bridge.command(['tasks']),
        bridge.command(['tasks', 'show', id]),
        bridge.command(['machines']),
      ])),
    ].map(({ out, err }) => `${out}${err}`);
    expect(printed[0]).toContain(`liar/${id.slice(-6)}`);
    for (const text of printed) expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    for (const [tool, args] of [
      ['get_task_status', { task_id: id }],
      ['list_tasks', {}],
    ] as const) {
      const { content } = await bridge.mcp.callTool(tool, args);
      expect(content.map((block) => block.text ?? '').join('\n')).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/,
      );
    }
  });

  it('by a command that is stopped leaves no process once the server has ended', async () => {
    const stopped = { command: ['sh', '-c', 'kill -STOP $$; exec "$0"'] };
    const bridge = await startBridge({
      claude: quickAgent,
      env: { MCP_MACHINES: JSON.stringify({ stopped }) },
    });
    const listing = bridge.mcp.callTool('list_tasks', {});
    const commands = async (): Promise<string[]> => {
      const lines = await Promise.all((await markedProcesses(bridge.workplace.root)).map(commandOf));
      return lines.filter((line) => line.includes('kill -STOP'));
    };
    await until('the command is there', async () => (await commands()).length > 0);
    await listing;
    await bridge.mcp.close();
    await until('the command is gone', async () => (await commands()).length === 0);
  });

  it('by what its shell prints before the bridge is refused or passed over', async () => {
    const workplace = await createWorkplace();
    onTestFinished(() => workplace.remove());
    const shell = (before: string): readonly string[] => ['sh', '-c', `${before}; exec "$0"`];
    const machines = Object.fromEntries(
      Object.entries({
        word: 'printf "welcome \\033[31m"',
        json: 'echo \'{"jsonrpc":"2.0","id":0,"result":{}}\'',
        much: 'yes | head -c 1000000',
        endless: 'yes',
        line: "tr '\\0' x </dev/zero",
        silent: 'sleep 600',
      }).map(([name, before]) => [
        name,
        {
          command: ['env', '-u', 'MCP_MACHINES', ...stateOf(workplace.root, name), ...shell(before)],
          bridge: [process.execPath, serverEntry],
        },
      ]),
    );
    const bridge = await startBridge({ claude: quickAgent, env: { MCP_MACHINES: JSON.stringify(machines) } });
    const start = (machine: string): object => ({
      machine,
      path: bridge.project,
      prompt: 'AGENT: exit 0',
      on_conflict: 'queue',
    });
    for (const machine of ['word', 'json']) {
      const id = await bridge.start({ ...start(machine) });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    }
    for (const machine of ['much', 'endless', 'line', 'silent'])
      expect(await bridge.refusal('start_task', { ...start(machine) })).toMatch(
        new RegExp(`^MACHINE_UNREACHABLE: .*${machine}`),
      );
    expect(await peakMemoryKb(bridge.mcp.pid)).toBeLessThan(MAX_MEMORY_KB);
  });
});

/** What makes the bridge over there another one than the one here. */
function stateOf(folder: string, name: string): readonly string[] {
  return [`MCP_STATE_DIR=${join(folder, `state-${name}`)}`];
}

/** A bridge with a machine `liar`, which is this one with another state directory. */
async function bridgeWith(lie: string): Promise<TestBridge> {
  const workplace = await createWorkplace();
  const command = ['env', '-u', 'MCP_MACHINES', ...stateOf(workplace.root, 'liar')];
  const machine = { command, bridge: [process.execPath, liar, lie, serverEntry] };
  return startBridge({
    claude: quickAgent,
    workplace,
    env: { MCP_MACHINES: JSON.stringify({ liar: machine }) },
  });
}

async function liars({ workplace }: TestBridge): Promise<string[]> {
  const lines = await Promise.all((await markedProcesses(workplace.root)).map(commandOf));
  return lines.filter((line) => line.includes(liar));
}

async function peakMemoryKb(pid: number): Promise<number> {
  return Number(/^VmHWM:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
