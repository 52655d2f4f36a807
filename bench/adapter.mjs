// This server for a harness that runs MCP servers side by side: it spawns `command`, calls `ready` once and then an operation
// again and again; each gives the whole answer as text, page by page where the server gives pages.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** The largest pages of the tools. */
const CONTENT_BYTES = 450_000;
const LIST_BYTES = 400_000;
/** A listing that never ends is a fault. */
const MAX_PAGES = 1_000;

/** One call: its text. */
async function ask(server, tool, args) {
  return textOf(await server.call(tool, args));
}

/** Every page of a call, joined. */
async function askAll(server, tool, args) {
  const texts = [];
  let cursor;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await server.call(tool, cursor === undefined ? args : { ...args, cursor });
    texts.push(textOf(result));
    cursor = result.structuredContent?.cursor;
    if (cursor === undefined) return texts.join('\n');
  }
  throw new Error(`${tool} gave more than ${MAX_PAGES} pages`);
}

function textOf(result) {
  return result.content.map((part) => part.text ?? '').join('');
}

export default {
  id: 'claude-code-bridge',
  command: process.execPath,
  args: [MAIN],
  env: (ctx) => ({
    MCP_ALLOWED_ROOTS: ctx.fixtures,
    MCP_STATE_DIR: join(ctx.home, 'state'),
    MCP_CLAUDE_COMMAND: ctx.agent ?? 'claude',
    // The largest page of a diff.
    MCP_MAX_DIFF_SIZE: String(LIST_BYTES),
  }),
  ops: {
    trivial: (server) => ask(server, 'list_tasks', {}),
    readFile: (server, path) => askAll(server, 'read_file', { path, max_bytes: CONTENT_BYTES }),
    readLines: (server, path, first, count) =>
      ask(server, 'read_file_range', { path, start_line: first, end_line: first + count - 1 }),
    listDir: (server, path) =>
      askAll(server, 'list_files', { path, depth: 1, names: true, max_bytes: LIST_BYTES }),
    tree: (server, path, depth) => askAll(server, 'get_file_tree', { path, depth, max_bytes: LIST_BYTES }),
    search: (server, path, query) => askAll(server, 'search_files', { path, query, max_bytes: LIST_BYTES }),
    gitStatus: (server, path) => ask(server, 'git_status', { path }),
    gitDiff: (server, path) => askAll(server, 'git_diff', { path }),
  },
};
