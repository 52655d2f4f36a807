import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it, onTestFinished } from 'vitest';
import { serverEntry } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import { installClient } from './install.js';
import type { ClientKey } from './versions.js';

const run = promisify(execFile);
const LIMIT_MS = 120_000;

/** Prints the servers that the client knows. */
type ListCommand = () => Promise<readonly [string, ...string[]]>;

function installed(key: ClientKey, ...path: string[]): ListCommand {
  return async () => {
    const { folder, node } = await installClient(key);
    const program = join(folder, 'node_modules', ...path);
    return path.at(-1)?.endsWith('.js') === true ? [node, program, 'mcp', 'list'] : [program, 'mcp', 'list'];
  };
}

const newestClaude: ListCommand = async () => {
  const binary = inject('claudeVersions').at(-1)?.binary;
  if (binary === undefined) throw new Error('the tests of clients need the newest pinned Claude Code');
  return [binary, 'mcp', 'list'];
};

const clients: readonly { readonly id: string; readonly list: ListCommand; readonly shown: RegExp }[] = [
  { id: 'claude-code', list: newestClaude, shown: /claude-code-bridge: .*main\.js - .*Connected/ },
  {
    id: 'gemini-cli',
    list: installed('gemini', '@google/gemini-cli', 'bundle', 'gemini.js'),
    shown: /claude-code-bridge: .*main\.js \(stdio\)/,
  },
  {
    id: 'opencode',
    list: installed('opencode', 'opencode-linux-x64', 'bin', 'opencode'),
    shown: /claude-code-bridge.*connected[^]*main\.js/,
  },
  {
    id: 'copilot-cli',
    list: installed('copilot', '@github/copilot', 'npm-loader.js'),
    shown: /claude-code-bridge \(local\)/,
  },
];

it('the command that init shows for the real Codex adds the server, and the other one removes it', async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  await mkdir(join(workplace.homeDir, '.codex'));
  const { HOME = '', PATH = '', LANG = '' } = workplace.env;
  const env = { HOME, PATH, LANG };
  const roots = ['--roots', workplace.projectsDir];
  const { stdout } = await run(process.execPath, [serverEntry, 'init', ...roots, '--client', 'codex'], {
    env,
  });
  const shown = /^codex (mcp add .*)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
  const [program, ...list] = await installed('codex', '@openai/codex', 'bin', 'codex.js')();
  const codex = [...list.slice(0, -2)];
  await run(program, [...codex, ...shown], { env });
  expect((await run(program, list, { env })).stdout).toMatch(/claude-code-bridge .*main\.js .*enabled/);
  const removal = (await run(process.execPath, [serverEntry, 'init', '--remove'], { env })).stdout;
  await run(program, [...codex, ...(/run: codex (mcp remove .*)$/m.exec(removal)?.[1]?.split(' ') ?? [])], {
    env,
  });
  expect((await run(program, list, { env })).stdout).not.toContain('main.js');
});

it.each(clients)(
  'the real client of $id knows the server after init, and no longer after init --remove',
  async ({ id, list, shown }) => {
    const workplace = await createWorkplace();
    onTestFinished(() => workplace.remove());
    await mkdir(join(workplace.homeDir, 'Projects'));
    const { HOME = '', PATH = '', LANG = '' } = workplace.env;
    const env = { HOME, PATH, LANG, TERM: 'dumb', NO_COLOR: '1', GEMINI_API_KEY: 'none' };
    const init = (...flags: string[]) => run(process.execPath, [serverEntry, 'init', ...flags], { env });
    const [program, ...args] = await list();
    const listed = async (): Promise<string> => {
      const { stdout, stderr } = await run(program, args, { cwd: workplace.root, env, timeout: LIMIT_MS });
      return stdout + stderr;
    };
    await init('--roots', join(workplace.homeDir, 'Projects'), '--client', id);
    expect(await listed()).toMatch(shown);
    await init('--remove');
    expect(await listed()).not.toContain('claude-code-bridge');
    const settings = await readFile(join(workplace.homeDir, '.config/mcp-claude-bridge/config.json'), 'utf8');
    expect(settings).toContain('Projects');
  },
  180_000,
);
