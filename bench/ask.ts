import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../src/cli/demo/claude-home.js';
import { findOrFetchClaude, PINNED_VERSION } from '../src/cli/demo/fetch-claude.js';
import { startScriptedApi } from '../src/cli/demo/scripted-api.js';
import { inTurn } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const ROUNDS = 20;
const SAID = 'Forty-two.';
const run = promisify(execFile);
const resultSchema = z.object({ result: z.literal(SAID), session_id: z.string() });
const answerSchema = z.object({ text: z.literal(SAID), responseId: z.string() });

/** `ask` beside `claude -p` of the real CLI, both against the same scripted API; and both continuing an answer. Milliseconds. */
export async function measureAsk(): Promise<unknown> {
  const claude = await findOrFetchClaude({
    version: PINNED_VERSION,
    cacheDir: join(import.meta.dirname, '../.cache/claude'),
    env: process.env,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const api = await startScriptedApi(() => ({ say: SAID }));
  const workplace = await createWorkplace({ MCP_CLAUDE_COMMAND: claude, MCP_TOOLSETS: 'all' });
  const cwd = workplace.project('ask');
  const homeDir = workplace.env['HOME'] ?? '';
  await writeClaudeHome(homeDir, { trustedProjects: [cwd] });
  const path = workplace.env['PATH'] ?? '';
  const env = { ...scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path }), ...workplace.env };
  const client = await StdioClient.open(BRIDGE, env);
  const direct = async (...more: readonly string[]): Promise<string> => {
    const started = run(claude, ['-p', 'How many?', '--output-format', 'json', ...more], { cwd, env });
    // Left open, the CLI waits for a prompt on its stdin.
    started.child.stdin?.end();
    return resultSchema.parse(JSON.parse((await started).stdout)).session_id;
  };
  const ask = async (previousResponseId?: string): Promise<string> => {
    const question = { prompt: 'How many?', workingDirectory: cwd, previousResponseId };
    return answerSchema.parse(await client.call('ask', question)).responseId;
  };
  try {
    const first = await inTurn({ rounds: ROUNDS, own: () => ask(), floor: () => direct() });
    const [session, response] = [await direct(), await ask()];
    const continued = await inTurn({
      rounds: ROUNDS,
      own: () => ask(response),
      floor: () => direct('--resume', session, '--fork-session'),
    });
    return { version: PINNED_VERSION, first, continued };
  } finally {
    await client.close();
    await api.dispose();
    workplace.dispose();
  }
}
