// Fetches the real Claude Code that the tests drive from npm into .cache/claude: the newest pinned version, `all` pinned ones, or the
// `newest` of the registry.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLAUDE_VERSIONS, findOrFetchClaude } from '../src/cli/demo/fetch-claude.js';
import { messageOf } from '../src/base/errors.js';

const cacheDir = join(import.meta.dirname, '..', '.cache', 'claude');
const [which = 'pinned'] = process.argv.slice(2);

async function versions(): Promise<readonly string[]> {
  if (which === 'pinned') return CLAUDE_VERSIONS.slice(-1);
  if (which === 'all') return CLAUDE_VERSIONS;
  if (which !== 'newest') throw new Error(`fetch-claude takes pinned, all or newest; it was given ${which}.`);
  const { stdout } = await promisify(execFile)('npm', ['view', '@anthropic-ai/claude-code', 'version']);
  const newest = stdout.trim();
  await mkdir(cacheDir, { recursive: true });
  await writeFile(join(cacheDir, 'newest'), `${newest}\n`);
  return [newest];
}

try {
  for (const version of await versions()) {
    const log = (line: string): void => void process.stderr.write(`${line}\n`);
    const path = await findOrFetchClaude({ version, cacheDir, env: process.env, log });
    process.stdout.write(`Claude Code ${version}: ${path}\n`);
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
