// The specification of the delegation server: "Configuration System", "Logging System", "Claude Desktop Integration".
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import type { TaskClient } from '../harness/task-client.js';

const bridge = sharedBridge({ claude: scriptedAgent });

const DEFAULT_PATTERNS = ['Do you want to proceed\\?', '\\[y/N\\]', '\\[Y/n\\]', 'Continue\\?', 'Approve\\?'];
/** The example of the specification, but for its folders. */
const EXAMPLE = {
  default_timeout_seconds: 3_600,
  max_log_size_bytes: 10_485_760,
  task_history_size: 20,
  default_tree_depth: 2,
  max_diff_size_bytes: 32_768,
  default_header_lines: 50,
  shell: '/bin/bash',
  claude_command: 'claude',
  auto_approve_patterns: DEFAULT_PATTERNS,
  log_level: 'info',
};

/** The server without some variables of the environment, and with others. */
function serverWith(...words: readonly string[]): readonly [string, ...string[]] {
  return ['env', ...words, process.execPath, serverEntry];
}
const withoutRoots = ['-u', 'MCP_ALLOWED_ROOTS'];
const withoutCommand = ['-u', 'MCP_CLAUDE_COMMAND'];

async function settingsFile(name: string, settings: Readonly<Record<string, unknown>>): Promise<string> {
  const path = join(bridge().workplace.root, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(settings));
  return path;
}

async function settingsOf(client: TaskClient): Promise<unknown> {
  return JSON.parse(await client.mcp.readResource('config://current'));
}

/** A client of a server that cannot use its settings. */
function withUnusable(env: Readonly<Record<string, string>>): Promise<TaskClient> {
  return bridge().another('modern', { env });
}

describe('the settings file', () => {
  test('is the one that MCP_CLAUDE_BRIDGE_CONFIG names', async () => {
    const allowed_roots = [bridge().workplace.projectsDir];
    const path = await settingsFile('named/config.json', { ...EXAMPLE, allowed_roots, task_history_size: 7 });
    const client = await bridge().another('modern', {
      command: serverWith(...withoutRoots, ...withoutCommand),
      env: { MCP_CLAUDE_BRIDGE_CONFIG: path },
    });
    expect(await settingsOf(client)).toMatchObject({ ...EXAMPLE, allowed_roots, task_history_size: 7 });
  });

  test('is else ~/.config/mcp-claude-bridge/config.json; the example of the specification is one', async () => {
    const allowed_roots = [bridge().workplace.projectsDir];
    await settingsFile('home/.config/mcp-claude-bridge/config.json', { allowed_roots, ...EXAMPLE });
    const client = await bridge().another('modern', {
      command: serverWith(...withoutRoots, ...withoutCommand),
    });
    expect(await settingsOf(client)).toMatchObject({ allowed_roots, ...EXAMPLE });
    expect(await client.call('list_files', { path: bridge().project })).toMatchObject({ entries: [] });
  });

  test('yields to environment variables', async () => {
    const path = await settingsFile('yields/config.json', { task_history_size: 7, default_tree_depth: 3 });
    const client = await bridge().another('modern', {
      env: { MCP_CLAUDE_BRIDGE_CONFIG: path, MCP_TASK_HISTORY_SIZE: '9' },
    });
    expect(await settingsOf(client)).toMatchObject({ task_history_size: 9, default_tree_depth: 3 });
  });

  test('in the folder where the server starts is not read unless it is named, and stderr says so', async () => {
    // The server's working directory is the root of the workplace.
    const path = await settingsFile('config.json', { claude_command: '/bin/false', default_tree_depth: 9 });
    const client = await bridge().another();
    expect(await settingsOf(client)).toMatchObject({ claude_command: scriptedAgent });
    await expect.poll(() => client.mcp.log()).toContain(`${path} is ignored`);
    await rm(path);
  });
});

test('each environment variable sets its setting', async () => {
  const roots = [bridge().workplace.projectsDir, bridge().workplace.homeDir];
  const client = await bridge().another('modern', {
    env: {
      MCP_ALLOWED_ROOTS: roots.join(', '),
      MCP_DEFAULT_TIMEOUT: '120',
      MCP_MAX_LOG_SIZE: '1000000',
      MCP_TASK_HISTORY_SIZE: '5',
      MCP_TREE_DEPTH: '4',
      MCP_MAX_DIFF_SIZE: '2048',
      MCP_SHELL: '/bin/sh',
      MCP_CLAUDE_COMMAND: process.execPath,
      MCP_LOG_LEVEL: 'warn',
    },
  });
  expect(await settingsOf(client)).toMatchObject({
    allowed_roots: roots,
    default_timeout_seconds: 120,
    max_log_size_bytes: 1_000_000,
    task_history_size: 5,
    default_tree_depth: 4,
    max_diff_size_bytes: 2_048,
    shell: '/bin/sh',
    claude_command: process.execPath,
    log_level: 'warn',
  });
});

test('the defaults are those of the specification', async () => {
  const client = await bridge().another('modern', {
    command: serverWith(...withoutCommand, `HOME=${bridge().workplace.projectsDir}`),
  });
  expect(await settingsOf(client)).toMatchObject(EXAMPLE);
});

describe('settings that cannot be used', () => {
  test.each([
    ['MCP_TREE_DEPTH', '11', 'default_tree_depth'],
    ['MCP_TREE_DEPTH', '0', 'default_tree_depth'],
    ['MCP_LOG_LEVEL', 'loud', 'log_level'],
    ['MCP_MAX_LOG_SIZE', '10MB', 'max_log_size_bytes'],
    ['MCP_TASK_HISTORY_SIZE', '-1', 'task_history_size'],
    ['MCP_ALLOWED_ROOTS', '/tmp,', 'allowed_roots'],
  ])('%s=%s: every call names the variable and %s, and so does stderr', async (variable, value, key) => {
    const client = await withUnusable({ [variable]: value });
    const words = new RegExp(`environment variable ${variable}: ${key}.*, expected `);
    expect(await client.refusal('list_files', {})).toMatch(/^CONFIG_ERROR: /);
    expect(await client.refusal('start_task', {})).toMatch(words);
    await expect.poll(() => client.mcp.log()).toMatch(words);
    expect(client.mcp.log()).toContain('CONFIG_ERROR');
  });

  test('a settings file that is no JSON: every call names file and line, and so does stderr', async () => {
    const path = join(bridge().workplace.root, 'broken.json');
    await writeFile(path, '{ "allowed_roots": [');
    const client = await withUnusable({ MCP_CLAUDE_BRIDGE_CONFIG: path });
    expect(await client.refusal('list_files', {})).toContain(`${path}:1: `);
    await expect.poll(() => client.mcp.log()).toContain(`${path}:1: `);
  });

  test('all errors come together, with what to do; tools are listed, and resources are refused, too', async () => {
    const path = join(bridge().workplace.root, 'wrong.json');
    await writeFile(path, '{\n  "default_timeout": 5,\n  "toolsets": ["tasks", "fils"]\n}');
    const client = await withUnusable({ MCP_CLAUDE_BRIDGE_CONFIG: path, MCP_TREE_DEPTH: '11' });
    expect(await client.mcp.listTools()).toContain('start_task');
    const words = await client.refusal('get_task_status', { task_id: 'x' });
    expect(words).toContain(
      `${path}:2: unknown key "default_timeout"; did you mean "default_timeout_seconds"?`,
    );
    expect(words).toContain(`${path}:3: toolsets[1]: found "fils", expected one of `);
    expect(words).toContain('did you mean "files"?');
    expect(words).toContain('environment variable MCP_TREE_DEPTH: default_tree_depth: found 11, expected ');
    expect(words).toMatch(/restart the server in your client/);
    await expect(client.mcp.readResource('config://current')).rejects.toThrow(
      /CONFIG_ERROR: .*default_timeout/s,
    );
    await expect(client.mcp.getPrompt('review', {})).rejects.toThrow(/CONFIG_ERROR/);
  });

  test('without allowed roots every call says how to set them', async () => {
    const client = await bridge().another('modern', {
      command: serverWith(...withoutRoots, `HOME=${bridge().workplace.projectsDir}`),
    });
    for (const tool of ['list_files', 'git_status'])
      expect(await client.refusal(tool, { path: bridge().project })).toMatch(
        /^NO_ALLOWED_ROOTS: .*MCP_ALLOWED_ROOTS/s,
      );
  });

  test('an allowed root that does not exist is a warning, and the others hold', async () => {
    const client = await bridge().another('modern', {
      env: { MCP_ALLOWED_ROOTS: `/nowhere/at/all,${bridge().workplace.projectsDir}` },
    });
    expect(await client.call('list_files', { path: bridge().project })).toMatchObject({ entries: [] });
    await expect.poll(() => client.mcp.log()).toMatch(/\[WARN\] .*\/nowhere\/at\/all/);
  });
});

describe('the log of the server, on stderr', () => {
  test('has the form [time] [LEVEL] message, and leaves out what is below log_level', async () => {
    const missing = { MCP_ALLOWED_ROOTS: `/nowhere,${bridge().workplace.projectsDir}` };
    const loud = await bridge().another('modern', { env: missing });
    await loud.mcp.listTools();
    await expect.poll(() => loud.mcp.log()).toMatch(/^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] \[WARN\] /m);
    const quiet = await bridge().another('modern', { env: { ...missing, MCP_LOG_LEVEL: 'error' } });
    await quiet.mcp.listTools();
    expect(quiet.mcp.log()).toBe('');
  });

  test('at info says with which version, roots and settings file it starts, and that a client is connected', async () => {
    const path = await settingsFile('logged/config.json', { task_history_size: 7 });
    const client = await bridge().another('modern', { env: { MCP_CLAUDE_BRIDGE_CONFIG: path } });
    await client.mcp.listTools();
    const log = () => client.mcp.log();
    await expect.poll(log).toMatch(/\[INFO\] .*connected/i);
    expect(log()).toContain(`Loaded config from ${path}`);
    expect(log()).toMatch(/\[INFO\] .*0\.1\.0/);
    expect(log()).toContain(bridge().workplace.projectsDir);
  });

  test('at info says that a task started, and how it ended', async () => {
    const client = await bridge().another();
    const path = await bridge().workplace.project('logged-task');
    const id = await client.start({ path, prompt: 'AGENT: exit 3' });
    await client.end(id);
    await expect.poll(() => client.mcp.log()).toMatch(new RegExp(`\\[INFO\\] .*started.*${id}`, 'i'));
    await expect.poll(() => client.mcp.log()).toMatch(new RegExp(`\\[INFO\\] .*failed.*${id}`, 'i'));
    expect(client.mcp.log()).not.toContain('AGENT: exit 3');
  });

  test('says which call was refused, and why', async () => {
    const client = await bridge().another();
    await client.refusal('read_file', { path: '/etc/passwd' });
    await expect.poll(() => client.mcp.log()).toMatch(/read_file.*PATH_NOT_ALLOWED/s);
  });

  test('at debug has a line for each call and each resource that is read', async () => {
    const client = await bridge().another('modern', { env: { MCP_LOG_LEVEL: 'debug' } });
    await client.call('list_files', { path: bridge().project });
    await client.mcp.readResource('config://current');
    await expect.poll(() => client.mcp.log()).toMatch(/\[DEBUG\] .*list_files/);
    await expect.poll(() => client.mcp.log()).toMatch(/\[DEBUG\] .*config:\/\/current/);
  });
});

describe('the server', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly on %s', async (signal) => {
    const child = execFile(process.execPath, [serverEntry], { env: bridge().env });
    const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once('exit', (code, by) => resolve([code, by])),
    );
    const answered = new Promise((resolve) => child.stdout?.once('data', resolve));
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    };
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await answered;
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
  });

  test('offers the 14 tools of the specification', async () => {
    expect(await bridge().mcp.listTools()).toEqual(
      expect.arrayContaining([
        'start_task',
        'get_task_status',
        'kill_task',
        'set_active_project',
        'list_files',
        'read_file',
        'read_file_range',
        'get_file_tree',
        'create_directory',
        'write_file',
        'init_git_repo',
        'git_status',
        'git_diff_stat',
        'git_diff',
      ]),
    );
  });
});
