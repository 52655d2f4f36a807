// This server for a harness that runs MCP servers side by side: it spawns `command`, calls `ready` once and then an operation
// again and again; each gives the whole answer as text, page by page where the server gives pages.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** The largest pages of the tools. */
const CONTENT_BYTES = 450_000;
const LIST_BYTES = 400_000;
/** A listing that never ends is a fault; 200 MB of output are read in this many pages. */
const MAX_PAGES = 10_000;
/** The largest page of a process's output, and the longest wait for its end. */
const OUTPUT_BYTES = 150_000;
const WAIT_SECONDS = 60;
const POLL_MS = 20;
/** Of a readable answer, in which a cursor is one of the last fields. */
const LAST_FIELDS_CHARS = 1_000;

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
    cursor = cursorOf(result);
    if (cursor === undefined) return texts.join('\n');
  }
  throw new Error(`${tool} gave more than ${MAX_PAGES} pages`);
}

function textOf(result) {
  return result.content.map((part) => part.text ?? '').join('');
}

/** Where an answer goes on: one of its last fields. */
function cursorOf(result) {
  if (result.structuredContent !== undefined) return result.structuredContent.cursor;
  return /\ncursor: (\S+)(?:\n[a-z_]+: .*)*$/.exec(textOf(result).slice(-LAST_FIELDS_CHARS))?.[1];
}

const environment = (ctx) => ({
  MCP_ALLOWED_ROOTS: ctx.fixtures,
  MCP_STATE_DIR: join(ctx.home, 'state'),
  MCP_CLAUDE_COMMAND: ctx.agent ?? 'claude',
  // The largest page of a diff.
  MCP_MAX_DIFF_SIZE: String(LIST_BYTES),
});

const explorer = {
  id: 'claude-code-bridge',
  command: process.execPath,
  args: [MAIN],
  env: environment,
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

/** Programs by `spawn`, through pipes or in a terminal: the call itself waits for the end. */
function processes(id, tty) {
  return {
    id,
    command: process.execPath,
    args: [MAIN],
    env: (ctx) => ({ ...environment(ctx), MCP_TOOLSETS: 'process,tasks' }),
    ops: { trivial: explorer.ops.trivial },
    task: {
      start: async (server, commandLine, { cwd }) => {
        const args = { command: commandLine, shell: true, tty, cwd, timeout_seconds: WAIT_SECONDS };
        const ended = server.call('spawn', args);
        // Told when it is awaited.
        ended.catch(() => undefined);
        return { ended };
      },
      wait: async (server, handle) => {
        handle.pid = (await handle.ended).structuredContent.pid;
        // Longer than a call may wait.
        while ((await lastLine(server, handle)).status === 'running') await pause(POLL_MS);
      },
      output: async (server, { pid }) => {
        const texts = [];
        let cursor = 0;
        for (let page = 0; page < MAX_PAGES; page++) {
          const { structuredContent } = await server.call('stdout', { pid, cursor, max_bytes: OUTPUT_BYTES });
          texts.push(structuredContent.text ?? '');
          cursor = structuredContent.cursor;
          if (structuredContent.more !== true) return texts.join('');
        }
        throw new Error(`stdout gave more than ${MAX_PAGES} pages`);
      },
      kill: (server, { pid }) => server.call('kill', { pid }),
    },
  };
}

async function lastLine(server, { pid }) {
  return (await server.call('stdout', { pid, lines: 1 })).structuredContent;
}

export default [
  explorer,
  processes('claude-code-bridge-pipes', false),
  processes('claude-code-bridge-terminal', true),
];
