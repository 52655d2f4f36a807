import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ToolCaller } from './follow-task.js';
import { structuredContentOf } from './tool-answer.js';

/** The built server as a child process, spoken to over stdio as an MCP client does. */
export interface DemoServer {
  readonly call: ToolCaller;
  /** Closes its input, which ends it. */
  close(): Promise<void>;
}

export async function startDemoServer(options: {
  /** Path of the built `main.js`. */
  readonly serverEntry: string;
  readonly cwd: string;
  /** The whole environment of the server. */
  readonly env: Record<string, string>;
  /** What the server says on stderr. */
  readonly onLog: (text: string) => void;
}): Promise<DemoServer> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [options.serverEntry],
    cwd: options.cwd,
    env: options.env,
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (chunk: Buffer) => options.onLog(chunk.toString('utf8')));
  const client = new Client({ name: 'claude-code-bridge-demo', version: '1.0.0' });
  await client.connect(transport);
  return {
    call: async (tool, args) =>
      structuredContentOf(tool, await client.callTool({ name: tool, arguments: { ...args } })),
    close: () => client.close(),
  };
}
