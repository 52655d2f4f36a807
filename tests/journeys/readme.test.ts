// The examples of README.md, as its reader types them: each block and each command is run, with the paths of a workplace in
// place of those that a reader puts in.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createDemoProject, DEMO_PROMPT, demoScript } from '../../src/cli/demo/demo-project.js';
import { connect } from '../harness/mcp-clients.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import { ScriptedModel } from './scripted-model.js';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const readme = readFileSync(join(checkout, 'README.md'), 'utf8');

const clientSchema = z.object({
  mcpServers: z.record(z.string(), z.object({ command: z.string(), args: z.array(z.string()) })),
});
const exitSchema = z.object({ code: z.number(), stdout: z.string() });

/** The code blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\``, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

test('each command of the README is one that a test runs', () => {
  const commands = [...readme.matchAll(/`((?:claude-code-bridge|npx|npm|node dist\/main\.js) [^`]+)`/g)]
    .map((match) => match[1] ?? '')
    .filter((command) => !command.includes('<'));
  expect([...new Set(commands)].toSorted()).toEqual([
    // tests/long/claude/attach.test.ts
    'claude-code-bridge attach',
    // tests/long/board/board.test.ts
    'claude-code-bridge board',
    // tests/long/more/doctor.test.ts
    'claude-code-bridge doctor',
    'claude-code-bridge run "Fix the failing test."',
    'claude-code-bridge tasks',
    // It changes the folder of global packages: what it makes there is made below.
    'npm link',
    // tests/docs/*.test.ts: generated pages are new.
    'npm run docs',
    'npx -y claude-code-bridge',
  ]);
  // The first is run by tests/long/claude/demo.test.ts, the second runs this test.
  expect(blocks('bash')).toEqual(['npm ci && npm run demo', 'npm ci && npm run check']);
  expect(blocks('json')).toHaveLength(1);
  // Run below.
  expect(blocks('sh')).toEqual(['npm ci && npm run build && node dist/main.js init']);
  expect(blocks('text')).toHaveLength(1);
});

describe('setting it up', () => {
  const bridge = sharedBridge({ claude: scriptedAgent });

  /** The commands that `npm link` or an installation makes. */
  beforeAll(async () => {
    const modules = join(bridge().workplace.root, 'node_modules');
    await mkdir(join(modules, '.bin'), { recursive: true });
    await symlink(checkout, join(modules, 'claude-code-bridge'));
    await symlink(serverEntry, join(modules, '.bin', 'claude-code-bridge'));
  });

  /** A line of the README in a shell that finds the command; its exit code and what it prints. */
  async function typed(line: string, env: Readonly<Record<string, string>> = {}) {
    const { root } = bridge().workplace;
    const path = [join(root, 'node_modules', '.bin'), dirname(process.execPath), bridge().env['PATH']];
    const options = { cwd: root, env: { ...bridge().env, PATH: path.join(delimiter), ...env } };
    return run('sh', ['-c', line], options).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: unknown) => exitSchema.parse(error),
    );
  }

  test('what "init --print" shows for a client, pasted, starts a server that offers tools', async () => {
    const { stdout } = await typed('claude-code-bridge init --print claude-desktop');
    const parsed: unknown = JSON.parse(stdout);
    const server = clientSchema.parse(parsed).mcpServers['claude-code-bridge'];
    if (server === undefined) throw new Error('no server of that name');
    const client = await connect('legacy', { ...server, cwd: bridge().workplace.root, env: bridge().env });
    expect(await client.listTools()).toContain('start_task');
    const listed = await client.callTool('list_files', { path: bridge().project });
    expect(listed.isError).not.toBe(true);
    await client.close();
  });

  test('"npx -y claude-code-bridge" starts the same server where the package is installed, and "npm start" in a clone', async () => {
    const commands = [
      ['npx', '-y', 'claude-code-bridge'],
      ['npm', '--silent', '--prefix', checkout, 'start'],
    ] as const;
    const offered = await Promise.all(
      commands.map(async (command) => (await bridge().another('modern', { command })).mcp.listTools()),
    );
    for (const tools of offered) expect(tools).toContain('start_task');
  });

  test('"claude-code-bridge init" writes the settings file with the folders, and a server starts with it', async () => {
    const { projectsDir } = bridge().workplace;
    const { code } = await typed(`claude-code-bridge init --roots '${projectsDir}' --yes`);
    expect(code).toBe(0);
    const client = await bridge().another('modern', {
      command: ['env', '-u', 'MCP_ALLOWED_ROOTS', process.execPath, serverEntry],
    });
    expect(JSON.parse(await client.mcp.readResource('config://current'))).toMatchObject({
      allowed_roots: [projectsDir],
    });
  });

  test('"claude-code-bridge tasks" lists tasks and ends them, with or without a running chat', async () => {
    const path = await bridge().newProject('listed');
    const other = await bridge().another();
    const id = await other.start({ path, prompt: 'AGENT: never-exits' });
    await other.mcp.close();
    expect((await typed('claude-code-bridge tasks')).stdout).toContain(id.slice(-6));
    expect(await typed(`claude-code-bridge tasks kill ${id.slice(-6)}`)).toMatchObject({ code: 0 });
    expect(await bridge().status(id)).toMatchObject({ status: 'killed' });
  });

  test('"claude-code-bridge run" starts a task in the current folder, prints the log and ends with the receipt', async () => {
    const path = await bridge().newProject('here');
    const { code, stdout } = await typed(`cd '${path}' && claude-code-bridge run 'AGENT: exit 0'`);
    expect(code).toBe(0);
    expect(stdout).toContain('Task completed with exit code 0');
    expect(stdout).toMatch(/^status +completed: /m);
  });

  test('the rule of the README is one that a task is started with', async () => {
    const path = await bridge().newProject('ruled');
    const [rules = ''] = blocks('json');
    const config = join(bridge().workplace.root, 'rules.json');
    await writeFile(config, `{ ${rules}, "allowed_roots": ["${bridge().workplace.projectsDir}"] }`);
    const env = { MCP_CLAUDE_BRIDGE_CONFIG: config };
    const { code } = await typed(`cd '${path}' && claude-code-bridge run 'AGENT: exit 0'`, env);
    expect(code).toBe(0);
  });
});

describeNewestClaude('with Claude Code', ({ binary }) => {
  const model = new ScriptedModel();
  /** Trusted, one for each try. */
  const projects = ['shop-math', 'shop-math-again'];
  const bridge = sharedBridge({ claude: binary, projects, script: model.script });

  test('the command that sets it up adds a server that Claude Code connects to', async () => {
    const { workplace, env } = bridge();
    const bin = join(workplace.root, 'bin');
    await mkdir(bin, { recursive: true });
    await rm(join(bin, 'claude'), { force: true });
    await symlink(binary, join(bin, 'claude'));
    const options = {
      cwd: checkout,
      env: { ...env, PATH: `${bin}${delimiter}${dirname(process.execPath)}${delimiter}${env['PATH']}` },
    };
    // The first two have run before these tests; the questions of the third are tested in tests/cli/init.
    const [, , init = ''] = (blocks('sh')[0] ?? '').split(' && ');
    const flags = `--roots '${workplace.projectsDir}' --client claude-code`;
    await run('sh', ['-c', `${init} ${flags}`], options);
    const { stdout } = await run('claude', ['mcp', 'list'], options);
    expect(stdout).toMatch(/claude-code-bridge: .*Connected/);
  });

  test('the delegation of the README goes as it is told there', async ({ task }) => {
    const [told = ''] = blocks('text');
    const tools = [...told.matchAll(/^> (\w+)/gm)].map((match) => match[1]);
    const [, prompt, final] = [...(/"([^"]+)"[^]*?"([^"]+)"/.exec(told) ?? [])];
    expect(prompt).toBe(DEMO_PROMPT);
    const [, name, command] = [...(/with the check (\w+): (.*)/.exec(told) ?? [])];
    const check = { name, command };
    const path = bridge().projects[task.result?.retryCount ?? 0] ?? '';
    model.does(...demoScript(path));
    await createDemoProject(path, bridge().env['PATH'] ?? '');

    const called: string[] = [];
    const call = (tool: string, args: Readonly<Record<string, unknown>>) => {
      if (called.at(-1) !== tool) called.push(tool);
      return bridge().call(tool, args);
    };
    const waitFor = async (task_id: string, status: string) => {
      const seen = z.object({ tasks: z.tuple([z.looseObject({ status: z.string() })]), cursor: z.string() });
      let cursor: string | undefined;
      for (;;) {
        const { tasks, ...next } = seen.parse(await call('wait_for_task', { task_ids: [task_id], cursor }));
        if (tasks[0].status === status) return tasks[0];
        cursor = next.cursor;
      }
    };
    const { task_id } = z
      .looseObject({ task_id: z.string() })
      .parse(await call('start_task', { path, prompt, permission_mode: 'cautious', checks: [check] }));
    const asked = await waitFor(task_id, 'waiting');
    expect(asked).toMatchObject({ decisions: [{ summary: 'Bash(node test.js)' }] });
    const { decisions } = z
      .object({ decisions: z.tuple([z.looseObject({ decision_id: z.string() })]) })
      .parse(asked);
    await call('respond_to_task', { task_id, decision_id: decisions[0].decision_id, verdict: 'allow' });
    const toAllow = await waitFor(task_id, 'waiting');
    expect(toAllow).toMatchObject({ decisions: [{ tool: 'Checks', request: { '1 test': command } }] });
    // As the person, who sees a form where the client has forms.
    await bridge().command(['tasks', 'answer', task_id, 'allow']);
    await waitFor(task_id, 'completed');
    expect(await call('get_task_result', { task_id })).toMatchObject({
      checks: { summary: '1 check met' },
      receipt: {
        final_message: final,
        git: { files: [{ path: 'average.js', insertions: 1, deletions: 1 }] },
        commands: [{ command: 'node test.js', exit_code: 0 }],
      },
    });
    const { diff } = await call('get_task_diff', { task_id });
    for (const [, line = ''] of told.matchAll(/( *[-+] {2}for .*)$/gm))
      expect(diff).toContain(line.trim().replace(/^([-+]) +/, '$1  '));
    expect(called).toEqual(tools);
  });
});
