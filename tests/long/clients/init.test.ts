import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { serverEntry } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import { installClient } from './versions.js';

const run = promisify(execFile);
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
  const { folder, node } = await installClient('codex');
  const codex = async (...words: string[]): Promise<string> => {
    const program = join(folder, 'node_modules', '@openai/codex', 'bin', 'codex.js');
    return (await run(node, [program, ...words], { env })).stdout;
  };
  await codex(...shown);
  expect(await codex('mcp', 'list')).toMatch(/claude-code-bridge .*main\.js .*enabled/);
  const removal = (await run(process.execPath, [serverEntry, 'init', '--remove'], { env })).stdout;
  await codex(...(/run: codex (mcp remove .*)$/m.exec(removal)?.[1]?.split(' ') ?? []));
  expect(await codex('mcp', 'list')).not.toContain('main.js');
});
