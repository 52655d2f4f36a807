import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';
import { endsWithTest } from '../../harness/board-process.js';
import { asksEnv, scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';

const APP_TYPE = 'text/html;profile=mcp-app';
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } };

/** A client that shows apps, with a server of its own. */
async function appClient(
  bridge: TestBridge,
  era: 'legacy' | 'modern',
  env: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = new Client(
    { name: 'claude-ai', version: '1.0.0' },
    {
      capabilities: { extensions },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [serverEntry],
      cwd: bridge.workplace.root,
      env: { ...bridge.env, ...env },
      stderr: 'ignore',
    }),
  );
  return client;
}

async function pagesOf(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.filter(({ _meta }) => _meta?.['ui'] !== undefined).map(({ name }) => name);
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era that shows apps', (era) => {
  it('reads what a task asks and answers it, by tools that the page alone calls', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, env: asksEnv });
    endsWithTest(bridge);
    const taskId = await bridge.start({ prompt: 'AGENT: split-prompt' });
    await bridge.decision(taskId);
    const client = await appClient(bridge, era);
    expect(await pagesOf(client)).toEqual(['board_act', 'board_read', 'open_board', 'wait_for_task']);
    const { contents } = await client.readResource({ uri: 'ui://claude-code-bridge/board.html' });
    expect(contents).toMatchObject([
      { mimeType: APP_TYPE, text: expect.stringMatching(/^<!doctype html>/) as unknown },
    ]);
    const read = await client.callTool({ name: 'board_read', arguments: { wait_ms: 0 } });
    const { set } = z
      .looseObject({
        set: z.record(z.string(), z.looseObject({ input_sha256: z.string().optional() }).nullable()),
      })
      .parse(read.structuredContent);
    const input_sha256 = set[`decision/${taskId}/dec_1`]?.input_sha256;
    const action = {
      type: 'decision.answer',
      task_id: taskId,
      decision_id: 'dec_1',
      input_sha256,
      verdict: 'allow',
    };
    const acted = await client.callTool({ name: 'board_act', arguments: { action } });
    expect(acted.structuredContent).toEqual({ ok: true });
    await expect.poll(async () => (await bridge.status(taskId)).status).toBe('completed');
    expect(JSON.stringify(await bridge.events(taskId, 'decision-closed'))).toContain('board/chat-claude-ai');
    const wrong = await client.callTool({ name: 'board_act', arguments: { action: { type: 'nothing' } } });
    expect(wrong.structuredContent).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
  });
});

it('without the toolset of the board, and inside a task, no tool has a page', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const tasksAlone = await appClient(bridge, 'modern', { MCP_TOOLSETS: 'tasks' });
  expect(await pagesOf(tasksAlone)).toEqual([]);
  const { resources } = await tasksAlone.listResources();
  expect(resources.filter(({ uri }) => uri.startsWith('ui://'))).toEqual([]);
  const inside = await appClient(bridge, 'modern', { [MARK_VARIABLE]: 'a-mark', MCP_INSIDE_TASKS: 'look' });
  expect((await inside.listTools()).tools.length).toBeGreaterThan(0);
  expect(await pagesOf(inside)).toEqual([]);
});
