import { describe, expect, test, onTestFinished } from 'vitest';
import { allResources } from '../../src/resources/registry.js';
import { enabledTools } from '../../src/tools/registry.js';
import type { ToolServices } from '../../src/tools/services.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { serverParts, startServing, type Era, eras } from './serving.js';

const MIME = 'text/html;profile=mcp-app';
const APPS = 'io.modelcontextprotocol/ui';
const withApps = { extensions: { [APPS]: { mimeTypes: [MIME] } } };
const FOR_APPS = ['board_act', 'board_read'];

/** A server with a board that keeps what it was asked. */
async function serving(era: Era, capabilities = {}, clientName = 'Claude.ai (Web)') {
  const acted: unknown[] = [];
  const board: Awaited<ReturnType<ToolServices['board']>> = {
    link: async () => ({ url: 'http://127.0.0.1:1/#code=1' }),
    chat: {
      read: async () => ({ answer: 'a', version: '1', home: '/home/ann', whole: true, set: {}, del: [] }),
      act: async (asked) => {
        acted.push(asked);
        return { ok: true };
      },
    },
  };
  const tasks = new FakeTaskService(taskRecord());
  const { services } = serverParts(tasks);
  const started = await startServing(
    era,
    tasks,
    { services: { ...services, board: async () => board } },
    clientName,
    capabilities,
  );
  onTestFinished(() => started.close());
  return { client: started.client, acted };
}

describe.each(eras)('a client of the %s era', (era) => {
  test('that shows apps gets the tools of the app, which no model sees, and the pages of tools', async () => {
    const { client } = await serving(era, withApps);
    const { tools } = await client.listTools();
    const ui = new Map(tools.map(({ name, _meta }) => [name, _meta?.['ui']]));
    for (const name of FOR_APPS) expect(ui.get(name)).toEqual({ visibility: ['app'] });
    expect(ui.get('open_board')).toEqual({ resourceUri: 'ui://claude-code-bridge/board.html' });
    expect(ui.get('wait_for_task')).toEqual({ resourceUri: 'ui://claude-code-bridge/decision.html' });
    expect([...ui].filter(([, value]) => value !== undefined)).toHaveLength(4);
    // What belongs to other clients is still there.
    expect(tools.find(({ name }) => name === 'wait_for_task')?._meta).toHaveProperty('anthropic/alwaysLoad');
  });

  test('that shows apps reads their pages, which ask for nothing of their own', async () => {
    const { client } = await serving(era, withApps);
    const { resources } = await client.listResources();
    const pages = resources.filter(({ uri }) => uri.startsWith('ui://'));
    expect(pages.map(({ uri }) => uri)).toEqual([
      'ui://claude-code-bridge/board.html',
      'ui://claude-code-bridge/decision.html',
    ]);
    for (const { uri } of pages) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: MIME, _meta: { ui: { prefersBorder: true } } }]);
      const meta = JSON.stringify(contents[0]?._meta);
      for (const right of ['domain', 'connectDomains', 'permissions']) expect(meta).not.toContain(right);
    }
  });

  test.each([
    ['nothing', {}],
    ['other extensions', { extensions: { 'io.modelcontextprotocol/skills': {} } }],
    ['pages of another kind', { extensions: { [APPS]: { mimeTypes: ['text/uri-list'] } } }],
  ])('that declares %s sees none of it, and cannot call it', async (_what, capabilities) => {
    const { client, acted } = await serving(era, capabilities);
    const { tools } = await client.listTools();
    expect(tools.filter(({ name }) => FOR_APPS.includes(name))).toEqual([]);
    expect(tools.filter(({ _meta }) => _meta?.['ui'] !== undefined)).toEqual([]);
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith('ui://'))).toEqual([]);
    for (const name of FOR_APPS)
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(`Unknown tool "${name}"`);
    // Nor is one proposed for a mistyped name.
    await expect(client.callTool({ name: 'board_reed', arguments: {} })).rejects.not.toThrow('board_read');
    expect(acted).toEqual([]);
  });

  test('acts with its own name, and gets what became of it as data', async () => {
    const { client, acted } = await serving(era, withApps);
    const action = { type: 'task.interrupt', task_id: TASK_ID };
    const result = await client.callTool({ name: 'board_act', arguments: { action } });
    expect(result.structuredContent).toEqual({ ok: true });
    expect(acted).toEqual([{ client: 'chat-claude-ai-web', action }]);
    const read = await client.callTool({ name: 'board_read', arguments: { wait_ms: 0 } });
    expect(read).toMatchObject({ structuredContent: { answer: 'a' }, content: [{ text: 'For the app.' }] });
  });

  test('that gets text alone from other tools still gets the data of the app', async () => {
    const { client } = await serving(era, withApps, 'copilot-cli');
    const read = await client.callTool({ name: 'board_read', arguments: { wait_ms: 0 } });
    expect(read.structuredContent).toMatchObject({ answer: 'a' });
  });
});

test('each page that a tool names is a resource, and only such pages are', () => {
  const named = enabledTools('all').flatMap(({ page }) => page ?? []);
  const pages = allResources.filter(({ isApp }) => isApp === true);
  expect(pages.map(({ uri }) => uri).toSorted()).toEqual(named.toSorted());
  expect(pages.map(({ mimeType }) => mimeType)).toEqual([MIME, MIME]);
});
