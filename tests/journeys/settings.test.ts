// The specification of the delegation server: "Configuration System", "Logging System", "Claude Desktop Integration".
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentNamedClaude, scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import type { TaskClient } from '../harness/task-client.js';
import { until } from '../harness/until.js';

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

/** Waits for words in the log of a client's server. */
function logged(client: TaskClient, words: RegExp | string): Promise<void> {
  return until(`${String(words)} on stderr`, () => expect(client.mcp.log()).toMatch(words));
}

describe('the settings file', () => {
  test('is the one that MCP_CLAUDE_BRIDGE_CONFIG names, else ~/.config/mcp-claude-bridge/config.json, like the example of the specification; it yields to variables', async () => {
    const command = serverWith(...withoutRoots, ...withoutCommand);
    const allowed_roots = [bridge().workplace.projectsDir];
    const settings = { ...EXAMPLE, allowed_roots, task_history_size: 7, default_tree_depth: 3 };
    const path = await settingsFile('named/config.json', settings);
    const named = await bridge().another('modern', {
      command,
      env: { MCP_CLAUDE_BRIDGE_CONFIG: path, MCP_TASK_HISTORY_SIZE: '9' },
    });
    expect(await settingsOf(named)).toMatchObject({ ...settings, task_history_size: 9 });
    const own = await settingsFile('home/.config/mcp-claude-bridge/config.json', {
      allowed_roots,
      ...EXAMPLE,
    });
    const client = await bridge().another('modern', { command });
    expect(await settingsOf(client)).toMatchObject({ allowed_roots, ...EXAMPLE });
    expect(await client.call('list_files', { path: bridge().project })).toMatchObject({ entries: [] });
    await rm(own);
  });

  test('in the folder where the server starts is not read unless it is named, and stderr says so', async () => {
    // The server's working directory is the root of the workplace.
    const path = await settingsFile('config.json', { claude_command: '/bin/false', default_tree_depth: 9 });
    const client = await bridge().another();
    expect(await settingsOf(client)).toMatchObject({ claude_command: scriptedAgent });
    await logged(client, `${path} is ignored`);
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
  const other = await bridge().another('modern', {
    command: serverWith(...withoutCommand),
    env: { CLAUDE_CLI_NAME: scriptedAgent, MCP_CLAUDE_DEBUG: 'true' },
  });
  expect(await settingsOf(other)).toMatchObject({ claude_command: scriptedAgent, log_level: 'debug' });
});

test('the defaults are those of the specification, with a longer history, and Claude Code is found in ~/.claude/local where PATH has none', async () => {
  const local = join(bridge().workplace.homeDir, '.claude', 'local', 'claude');
  await mkdir(dirname(local), { recursive: true });
  await rm(local, { force: true });
  await symlink(await agentNamedClaude(bridge().workplace), local);
  const client = await bridge().another('modern', {
    command: serverWith(...withoutCommand, 'PATH=/nowhere'),
  });
  expect(await settingsOf(client)).toMatchObject({ ...EXAMPLE, task_history_size: 500 });
  const path = await bridge().newProject('found');
  const id = await client.start({ path, prompt: 'AGENT: exit 0', driver: 'interactive' });
  expect((await client.end(id)).last_output).toContain('exiting with 0');
});

describe('settings that cannot be used', () => {
  test('every call names the variable and what it must be, and so does stderr', async () => {
    const wrong = await Promise.all(
      [
        ['MCP_TREE_DEPTH', '11', 'default_tree_depth'],
        ['MCP_TREE_DEPTH', '0', 'default_tree_depth'],
        ['MCP_LOG_LEVEL', 'loud', 'log_level'],
        ['MCP_MAX_LOG_SIZE', '10MB', 'max_log_size_bytes'],
        ['MCP_TASK_HISTORY_SIZE', '-1', 'task_history_size'],
        ['MCP_ALLOWED_ROOTS', '/tmp,', 'allowed_roots'],
      ].map(async ([variable = '', value = '', key = '']) => {
        const client = await bridge().another('modern', { env: { [variable]: value } });
        const words = new RegExp(`environment variable ${variable}: ${key}.*, expected `);
        const told = [await client.refusal('list_files', {}), await client.refusal('start_task', {})];
        await logged(client, words);
        await logged(client, 'CONFIG_ERROR');
        await client.mcp.close();
        const isSaid = told.every((refusal) => refusal.startsWith('CONFIG_ERROR: ') && words.test(refusal));
        return isSaid ? [] : [`${variable}=${value}: ${told.join('\n')}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });

  test('all errors of a file and of variables come together, with what to do; tools are listed, and resources and prompts are refused, too', async () => {
    const path = join(bridge().workplace.root, 'wrong.json');
    await writeFile(path, '{\n  "default_timeout": 5,\n  "toolsets": ["tasks", "fils"]\n}');
    const client = await bridge().another('modern', {
      env: { MCP_CLAUDE_BRIDGE_CONFIG: path, MCP_TREE_DEPTH: '11' },
    });
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
    const broken = join(bridge().workplace.root, 'broken.json');
    await writeFile(broken, '{ "allowed_roots": [');
    const other = await bridge().another('modern', { env: { MCP_CLAUDE_BRIDGE_CONFIG: broken } });
    expect(await other.refusal('list_files', {})).toContain(`${broken}:1: `);
    await logged(other, `${broken}:1: `);
  });

  test('without allowed roots every call says how to set them; one that does not exist is a warning, and the others hold', async () => {
    const without = await bridge().another('modern', {
      command: serverWith(...withoutRoots, `HOME=${bridge().workplace.projectsDir}`),
    });
    for (const tool of ['list_files', 'git_status'])
      expect(await without.refusal(tool, { path: bridge().project })).toMatch(
        /^NO_ALLOWED_ROOTS: .*MCP_ALLOWED_ROOTS/s,
      );
    const client = await bridge().another('modern', {
      env: { MCP_ALLOWED_ROOTS: `/nowhere/at/all,${bridge().workplace.projectsDir}` },
    });
    expect(await client.call('list_files', { path: bridge().project })).toMatchObject({ entries: [] });
    await logged(client, /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] \[WARN\] .*\/nowhere\/at\/all/m);
  });
});

describe('the log of the server, on stderr', () => {
  test('at info says with which version, roots and settings it starts, who connects, how a task goes, and which call was refused and why', async () => {
    const file = await settingsFile('logged/config.json', { task_history_size: 7 });
    const client = await bridge().another('modern', { env: { MCP_CLAUDE_BRIDGE_CONFIG: file } });
    const path = await bridge().newProject('logged');
    const id = await client.start({ path, prompt: 'AGENT: exit 3' });
    await client.end(id);
    await client.refusal('read_file', { path: '/etc/passwd' });
    for (const words of [
      /\[INFO\] .*0\.1\.0/,
      `Loaded config from ${file}`,
      bridge().workplace.projectsDir,
      /\[INFO\] .*connected/i,
      new RegExp(`\\[INFO\\] .*started.*${id}`, 'i'),
      new RegExp(`\\[INFO\\] .*failed.*${id}`, 'i'),
      /read_file.*PATH_NOT_ALLOWED/s,
    ])
      await logged(client, words);
    expect(client.mcp.log()).not.toContain('AGENT: exit 3');
  });

  test('at debug has a line for each call and each resource that is read, and at error leaves out the rest', async () => {
    const withLevel = async (level: string) => {
      const roots = `/nowhere,${bridge().workplace.projectsDir}`;
      const client = await bridge().another('modern', {
        env: { MCP_ALLOWED_ROOTS: roots, MCP_LOG_LEVEL: level },
      });
      await client.call('list_files', { path: bridge().project });
      await client.mcp.readResource('config://current');
      return client;
    };
    const loud = await withLevel('debug');
    await logged(loud, /\[DEBUG\] .*list_files/);
    await logged(loud, /\[DEBUG\] .*config:\/\/current/);
    const quiet = await withLevel('error');
    expect(quiet.mcp.log()).toBe('');
  });
});

test('the server offers the 14 tools of the specification', async () => {
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

test('a server goes on, or says what to do, when its folders are gone and its files were replaced', async () => {
  const { root } = bridge().workplace;
  const [app, here, temp] = [join(root, 'app'), join(root, 'here'), join(root, 'temp')];
  await cp(dirname(serverEntry), join(app, 'dist'), { recursive: true });
  await writeFile(join(app, 'package.json'), '{ "type": "module" }');
  await mkdir(temp, { recursive: true });
  const inRemoved = ['sh', '-c', 'mkdir -p "$0" && cd "$0" && rmdir "$0" && exec "$@"', here];
  const command = [process.execPath, join(app, 'dist', 'main.js')];
  const server = await bridge().another('modern', {
    command: ['env', `TMPDIR=${temp}`, ...inRemoved, ...command],
  });
  await logged(server, 'The current folder was removed; claude-code-bridge goes on in /.');
  const path = await bridge().newProject('on moving ground');
  await rm(temp, { recursive: true });
  expect(await server.call('init_git_repo', { path })).toMatchObject({ initialized: true });
  expect(await server.call('git_status', { path })).toMatchObject({ path });
  await rename(join(app, 'dist'), join(app, 'old'));
  expect(await server.refusal('git_diff', { path })).toMatch(
    /^RESTART_NEEDED: .*the files of this server.* restart the server/,
  );
  expect(await server.call('git_status', { path })).toMatchObject({ path });
  await rm(temp, { recursive: true });
  await writeFile(temp, '');
  expect(await server.refusal('git_status', { path })).toMatch(
    /^NOT_WRITABLE: The temporary folder .* cannot be used/,
  );
});
