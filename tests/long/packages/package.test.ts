import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startFakeEngine, writeContext } from '../../harness/fake-engine.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const NPM_LIMIT_MS = 120_000;
let folder: string;
let command: string;

/** Packs what would be published and installs it in an empty folder without running any package's scripts, as npm 12 does. */
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'package-')));
  const options = { cwd: folder, timeout: NPM_LIMIT_MS };
  const packed = await run('npm', ['pack', checkout, '--ignore-scripts', '--json', '--silent'], options);
  const [{ filename }] = z.tuple([z.looseObject({ filename: z.string() })]).parse(JSON.parse(packed.stdout));
  const app = join(folder, 'app');
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{"private":true}');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--omit=peer'];
  await run('npm', ['install', ...flags, join(folder, filename)], { ...options, cwd: app });
  command = join(app, 'node_modules', '.bin', 'claude-code-bridge');
}, NPM_LIMIT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

it('the installed package is small and needs the terminal, ripgrep and the sandbox for checks alone', async () => {
  const modules = join(folder, 'app', 'node_modules');
  const installed = (await readdir(modules)).filter((name) => !name.startsWith('.'));
  const ofSandbox = ['@anthropic-ai', '@pondwader', 'commander', 'node-forge', 'zod'];
  expect(installed.sort()).toEqual(['@lydell', '@vscode', 'claude-code-bridge', ...ofSandbox].sort());
  const files = await readdir(join(modules, 'claude-code-bridge'), { recursive: true });
  expect(files).toEqual(
    expect.arrayContaining(['docs/guide.md', 'docs/tools.md', 'docs/demo.svg', 'CONTRIBUTING.md']),
  );
  expect(files.filter((file) => /(^|\/)(src|tests|scripts|bench|node_modules)(\/|$)/.test(file))).toEqual([]);
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    expect(await readFile(join(modules, 'claude-code-bridge', file), 'utf8'), file).not.toContain(checkout);
  }
});

it('whatever its pages and messages point to is in the package or has a full address', async () => {
  const root = join(folder, 'app', 'node_modules', 'claude-code-bridge');
  const files = await readdir(root, { recursive: true });
  const dead: string[] = [];
  for (const page of files.filter((file) => file.endsWith('.md'))) {
    const text = (await readFile(join(root, page), 'utf8')).replace(/^```[^]*?^```/gm, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s#]+)/g)) {
      if (!/^https:/.test(target) && !files.includes(join(dirname(page), target)))
        dead.push(`${page}: ${target}`);
    }
  }
  for (const program of files.filter((file) => file.startsWith('dist/') && /\.(js|cjs)$/.test(file))) {
    const text = await readFile(join(root, program), 'utf8');
    for (const [name] of text.matchAll(/\bdocs\/[\w-]+\.\w+|\bSECURITY\.md/g)) {
      if (!files.includes(name)) dead.push(`${program}: ${name}`);
    }
  }
  expect(dead).toEqual([]);
});

it('Docker mode reaches the engine of the current context with nothing installed by hand', async () => {
  const home = await mkdtemp(join(folder, 'home-'));
  const host = await startFakeEngine(join(home, 'engine.sock'));
  await writeContext(join(home, '.docker'), 'colima', { Host: host });
  await writeFile(join(home, '.docker', 'config.json'), '{"currentContext": "colima"}');
  const env = { PATH: process.env['PATH'], HOME: home, MCP_ALLOWED_ROOTS: home };
  const told = await run(command, ['doctor', '--json'], { cwd: home, env }).catch((error: unknown) =>
    z.object({ stdout: z.string() }).parse(error),
  );
  expect(told.stdout).toContain(`The Docker engine answers: ${host} (the Docker context \\"colima\\")`);
});

describeNewestClaude('the installed package', ({ binary }) => {
  it('serves the folders that are its arguments, to a client that shares no code with it', async () => {
    const bridge = await startBridge({ claude: binary, withoutRoots: true });
    const roots = join(bridge.workplace.root, 'a, b');
    const app = join(roots, 'app');
    await mkdir(app, { recursive: true });
    const client = await bridge.another('legacy', { command: [command, 'serve', roots] });
    expect(await client.mcp.listTools()).toContain('start_task');
    const chosen = await client.mcp.callTool('set_active_project', { path: app });
    expect(chosen.content[0]?.text).toContain(app);
    const refused = await client.mcp.callTool('set_active_project', { path: bridge.project });
    expect(refused.isError).toBe(true);
  });

  it('is set up by init, delegates a task by the entry that this wrote, and leaves nothing of it behind', async () => {
    const bridge = await startBridge({
      claude: binary,
      withoutRoots: true,
      script: [runs('echo new > made.txt'), says('Made.')],
    });
    const home = bridge.workplace.homeDir;
    const before = await ownFiles(home);
    const env = { PATH: process.env['PATH'], HOME: home };
    const roots = bridge.workplace.projectsDir;
    await run(command, ['init', '--roots', roots, '--client', 'claude-code'], { cwd: home, env });
    const settings: unknown = JSON.parse(await readFile(join(home, '.claude.json'), 'utf8'));
    const entry = entrySchema.parse(settings).mcpServers['claude-code-bridge'];
    const client = await bridge.another('legacy', { command: [entry.command, ...entry.args] });
    const id = await client.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    await client.answerNext(id, { verdict: 'allow' });
    expect(await client.end(id)).toMatchObject({ status: 'completed' });
    await client.mcp.close();
    const { stdout } = await run(command, ['init', '--remove'], { cwd: home, env });
    // The line with which it ends removes settings and records.
    const line = stdout.split('\n').find((one) => one.startsWith('rm -r '));
    if (line !== undefined) await run('/bin/sh', ['-c', line], { cwd: home, env });
    expect(await ownFiles(home)).toEqual(before);
    expect(await readFile(join(home, '.claude.json'), 'utf8')).not.toContain('claude-code-bridge');
  });
});

const entrySchema = z.object({
  mcpServers: z.object({
    'claude-code-bridge': z.object({ command: z.string(), args: z.array(z.string()).default([]) }),
  }),
});

/** What Claude Code and programs in general write into a home folder. */
const OF_OTHERS =
  /^\.(claude|npm|cache\/(claude|node)|config\/mimeapps|local\/(share|state)\/(claude|applications))/;

/** The other files in a home folder. */
async function ownFiles(home: string): Promise<string[]> {
  const all = await readdir(home, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .filter((path) => !OF_OTHERS.test(path));
}
