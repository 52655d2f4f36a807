import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cliPermissions } from '../approvals/cli-permissions.js';
import type { RuleRow } from '../approvals/modes.js';
import { toolRow } from '../approvals/tool-table.js';
import { withTempFolder } from '../base/files/folders.js';
import { createSecret } from '../base/ids.js';
import { withinMs } from '../base/clock.js';
import { systemClock } from '../base/system-clock.js';
import { OWN_SOURCES_ENVIRONMENT, WITHOUT_MENTIONS } from '../claude/launch.js';
import { PrintDriver } from '../claude/print/print-driver.js';
import type { ToolVerdict } from '../claude/session.js';
import { findTranscripts } from '../claude/transcripts.js';
import { parseTranscriptLine, type ToolOutcome } from '../claude/transcript-entry.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { killTree } from '../pty/kill-ladder.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from './demo/claude-home.js';
import { startScriptedApi } from './demo/scripted-api.js';
import type { ScriptedTurn } from './demo/messages-api.js';

type Outcome = 'denied' | 'asked' | 'done' | 'failed';

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Outcome;
}

const rows: readonly RuleRow[] = [
  { rule: 'Bash(touch *)', verdict: 'deny', reason: 'contract' },
  { rule: 'Read(secret/**)', verdict: 'deny', reason: 'contract' },
  { rule: 'Read(key[0-9].txt)', verdict: 'deny', reason: 'contract' },
  { rule: 'WebFetch(domain:denied.invalid)', verdict: 'deny', reason: 'contract' },
  { rule: 'Bash(mkdir *)', verdict: 'ask', reason: 'contract' },
  { rule: 'Edit(asked/**)', verdict: 'ask', reason: 'contract' },
  { rule: 'Agent(contract)', verdict: 'deny', reason: 'contract' },
];

const command = (line: string, expected: Outcome, tool = 'Bash'): Call => ({
  tool,
  input: { command: line, description: 'contract', ...(tool === 'Monitor' && { persistent: false }) },
  expected,
});
const page = (url: string): Call => ({ tool: 'WebFetch', input: { url, prompt: 'x' }, expected: 'denied' });
const file = (tool: string, path: string, expected: Outcome): Call => ({
  tool,
  input: { file_path: path, ...(tool === 'Write' && { content: 'x' }) },
  expected,
});

/** What the bridge relies on; the bridge's own hook allows each of these calls. Measured with 2.1.330 and 2.1.332. */
const calls: readonly Call[] = [
  { tool: 'ToolSearch', input: { query: 'select:Monitor,WebFetch' }, expected: 'done' },
  ...[
    'touch made',
    'true && touch made',
    '(touch made)',
    '/usr/bin/touch made',
    'for i in 1; do touch made; done',
    'echo $(touch made)',
    'env A=1 touch made',
    'if true; then touch made; fi',
    'xargs touch < names',
  ].map((line) => command(line, 'denied')),
  command('touch made', 'denied', 'Monitor'),
  command('cat secret/key', 'denied'),
  file('Read', 'secret/key', 'denied'),
  file('Read', 'key1.txt', 'denied'),
  ...['http://denied.invalid/', 'https:/denied.invalid', 'https://a.denied.invalid/x'].map(page),
  command('mkdir asked-for', 'asked'),
  command('true; mkdir asked-for', 'asked'),
  file('Write', 'asked/a', 'asked'),
  file('Write', '.vscode/settings.json', 'asked'),
  file('Write', 'plain.txt', 'done'),
  command('echo plain', 'done'),
];

const TURN_LIMIT_MS = 120_000;
const UNASKED = 'The text of a file that nothing reads.';
const ASKED = 'The contract denies what is asked.';
const ALLOWED: ToolVerdict = { verdict: 'allow', reason: 'contract' };

/**
 * Runs a session of this Claude Code with a scripted model, in folders of its own, and compares what it does with what the bridge relies
 * on. Resolves with one line for each difference; without an account, in some ten seconds.
 */
export async function rulesContract(claude: string, path: string, signal: AbortSignal): Promise<string[]> {
  return withTempFolder('claude-code-bridge-rules-', async (folder) =>
    contractIn(await realpath(folder), claude, path, signal),
  );
}

async function contractIn(
  folder: string,
  claude: string,
  path: string,
  signal: AbortSignal,
): Promise<string[]> {
  const project = join(folder, 'project');
  const home = join(folder, 'home');
  await mkdir(join(project, '.claude'), { recursive: true });
  await mkdir(join(project, 'secret'));
  await mkdir(home);
  await writeFile(join(project, 'secret', 'key'), 'the key');
  await writeFile(join(project, 'names'), 'made');
  await writeFile(join(project, 'mentioned'), UNASKED);
  await writeFile(join(project, 'CLAUDE.md'), 'Read @more.md');
  await writeFile(join(project, 'more.md'), 'More.');
  await writeFile(join(project, '.claude', 'settings.json'), projectSettings(join(folder, 'hook-ran')));
  await writeClaudeHome(home, { trustedProjects: [project] });
  const script = calls.map(({ tool, input }): ScriptedTurn => ({ tools: [{ name: tool, input }] }));
  const api = await startScriptedApi([...script, { say: 'Done.' }]);
  try {
    const env = {
      ...scriptedClaudeEnvironment({ homeDir: home, apiUrl: api.url, path }),
      ...OWN_SOURCES_ENVIRONMENT,
      ...WITHOUT_MENTIONS,
      CLAUDE_CODE_TMPDIR: folder,
    };
    const session = await runSession({ claude, project, env }, signal);
    const results = await resultsIn(join(home, '.claude'), session.id);
    const turns = api.requests.filter(({ kind }) => kind === 'turn');
    const names = new Set(turns.flatMap(({ toolNames, deferredNames }) => [...toolNames, ...deferredNames]));
    return [
      ...calls.flatMap((call, index) => differenceOf(call, results[index])),
      ...[...names]
        .filter((name) => toolRow(name) === undefined)
        .map((name) => `the tool ${name} is not known to the bridge`),
      ...(JSON.stringify(turns).includes(UNASKED)
        ? ['a file that a prompt names after @ is read unasked']
        : []),
      ...(names.has('CronCreate') ? ['schedules are offered, although they are switched off'] : []),
      ...['CLAUDE.md', 'more.md']
        .filter((name) => !session.instructions.has(join(project, name)))
        .map((name) => `that ${name} instructs it is not told`),
      ...(existsSync(join(folder, 'hook-ran'))
        ? ['a hook of the project ran, although its settings sleep']
        : []),
    ];
  } finally {
    await api.dispose();
  }
}

/** A project that would run something, were its settings used. */
function projectSettings(mark: string): string {
  const hooks = [{ hooks: [{ type: 'command', command: `touch '${mark}'` }] }];
  return JSON.stringify({ hooks: { PreToolUse: hooks, PermissionRequest: hooks, SessionStart: hooks } });
}

function differenceOf(call: Call, result: ToolOutcome | undefined): string[] {
  const found = outcomeOf(result);
  if (found === call.expected) return [];
  const words = JSON.stringify(call.input['command'] ?? call.input['file_path'] ?? call.input['url'] ?? '');
  return [`${call.tool} ${words} is ${found}, not ${call.expected}`];
}

function outcomeOf(result: ToolOutcome | undefined): Outcome | 'not called' {
  if (result === undefined) return 'not called';
  if (result.deniedBy !== undefined) return 'denied';
  if (result.text.includes(ASKED)) return 'asked';
  return result.isError ? 'failed' : 'done';
}

async function resultsIn(configDir: string, sessionId: string): Promise<ToolOutcome[]> {
  const [file] = await findTranscripts(configDir, sessionId);
  if (file === undefined) return [];
  return (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
    const entry = parseTranscriptLine(line);
    return entry?.kind === 'results' ? entry.outcomes : [];
  });
}

interface SessionParts {
  readonly claude: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One session by the print driver, in which each request is denied. Resolves when it has ended. */
async function runSession({ claude, project, env }: SessionParts, signal: AbortSignal) {
  const id = randomUUID();
  const mark = createSecret();
  const instructions = new Set<string>();
  const end = (): Promise<unknown> => killTree({ pid: undefined, mark, clock: systemClock });
  const driver = new PrintDriver({
    clock: systemClock,
    command: [claude],
    cwd: project,
    env: { ...env, [MARK_VARIABLE]: mark },
    prompt: 'Work, see @mentioned',
    model: null,
    sessionId: id,
    permissions: cliPermissions({ rows, projectPath: project }),
    projectSleeps: true,
    killTree: async () => void (await end()),
    guard: {
      beforeTool: () => Promise.resolve(ALLOWED),
      instructedBy: (path) => void instructions.add(path),
      startedAgent: () => undefined,
    },
  });
  const over = new Promise<void>((resolve) => {
    driver.onEvent((event) => {
      if (event.type === 'request')
        void driver.answer(event.request.requestId, { verdict: 'deny', message: ASKED });
      if (event.type === 'turn-ended' || event.type === 'exited') resolve();
    });
  });
  const stopped = signal.aborted ? undefined : once(signal, 'abort');
  try {
    await driver.start();
    await withinMs(systemClock, TURN_LIMIT_MS, Promise.race([over, stopped]));
    await driver.close();
  } finally {
    driver.dispose();
    await end();
  }
  return { id, instructions };
}
