import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { serverEntry, type TestBridge } from './start-bridge.js';

export const APP_TYPE = 'text/html;profile=mcp-app';
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } };

/** A client that shows apps, with a server of its own. */
export async function appClient(
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
