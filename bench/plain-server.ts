// What reading costs at least over MCP: a server without guards that sends a file as it is. Bundled, it is a floor.
import { readFile } from 'node:fs/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const argumentsSchema = z.object({ path: z.string() });
const server = new Server({ name: 'plain', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const { path } = argumentsSchema.parse(params.arguments);
  return { content: [{ type: 'text', text: await readFile(path, 'utf8') }] };
});
await server.connect(new StdioServerTransport());
