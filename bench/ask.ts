import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../src/cli/demo/claude-home.js';
import { CLAUDE_VERSIONS, findOrFetchClaude } from '../src/cli/demo/fetch-claude.js';
import { startScriptedApi } from '../src/cli/demo/scripted-api.js';
import { figuresOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const PAIRS = 20;
const SAID = 'Forty-two.';
const run = promisify(execFile);
const resultSchema = z.object({ result: z.literal(SAID), session_id: z.string() });
const answerSchema = z.object({ text: z.literal(SAID), responseId: z.string() });

/** `ask` beside `claude -p` of the real CLI, in turn, both against the same scripted API; and both continuing an answer. Milliseconds. */
export async function measureAsk(): Promise<unknown> {
  const version = CLAUDE_VERSIONS.at(-1) ?? '';
  const claude = await findOrFetchClaude({
    version,
    cacheDir: fileURLToPath(new URL('../.cache/claude', import.meta.url)),
    env: process.env,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const api = await startScriptedApi(() => ({ say: SAID }));
  const workplace = await createWorkplace({ MCP_CLAUDE_COMMAND: claude, MCP_TOOLSETS: 'all' });
  const cwd = workplace.project('ask');
  const homeDir = join(workplace.folder, 'home');
  await writeClaudeHome(homeDir, { trustedProjects: [cwd] });
  const path = workplace.env['PATH'] ?? '';
  const env = { ...scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path }), TMPDIR: workplace.folder };
  const client = new StdioClient(BRIDGE, { ...env, ...workplace.env });
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
    await client.initialize();
    // The first of each fills the caches; they are what the others continue.
    const session = await direct();
    const response = await ask();
    return {
      version,
      first: await inTurn(direct, ask),
      continued: await inTurn(
        () => direct('--resume', session, '--fork-session'),
        () => ask(response),
      ),
    };
  } finally {
    await client.close();
    await api.dispose();
    workplace.dispose();
  }
}

async function inTurn(direct: () => Promise<unknown>, ask: () => Promise<unknown>): Promise<unknown> {
  const claudeMs: number[] = [];
  const askMs: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each comes first every second time.
    const order = pair % 2 === 0 ? [direct, ask] : [ask, direct];
    for (const one of order) {
      const startMs = performance.now();
      await one();
      (one === direct ? claudeMs : askMs).push(performance.now() - startMs);
    }
  }
  return {
    claudeMs: figuresOf(claudeMs),
    askMs: figuresOf(askMs),
    // Of neighbours: what `ask` costs over `claude -p` itself.
    costMs: figuresOf(askMs.map((ms, pair) => ms - (claudeMs[pair] ?? NaN))),
  };
}
