// The least a stdio MCP server made with the official SDK can be: one trivial tool. Bundled, it is the floor of a start.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'minimal', version: '1.0.0' });
server.registerTool('ping', { description: 'Answers pong.' }, () => ({
  content: [{ type: 'text', text: 'pong' }],
}));
await server.connect(new StdioServerTransport());
