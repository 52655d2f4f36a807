import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
import { startScriptedApi, type ScriptedRequest, type ScriptedTurn } from './demo/scripted-api.js';

type Outcome = 'denied' | 'asked' | 'done' | 'failed';

interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expected: Outcome;
}

const rows: readonly RuleRow[] = [
  ['Bash(touch *)', 'deny'],
  ['Read(secret/**)', 'deny'],
  ['Read(key[0-9].txt)', 'deny'],
  ['WebFetch(domain:denied.invalid)', 'deny'],
  ['Bash(mkdir *)', 'ask'],
  ['Edit(asked/**)', 'ask'],
  ['Agent(contract)', 'deny'],
].map(([rule = '', verdict]) => ({ rule, verdict: verdict === 'ask' ? 'ask' : 'deny', reason: 'contract' }));

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
  return withTempFolder('claude-code-bridge-rules-', async (made) => {
    const folder = await realpath(made);
    const project = join(folder, 'project');
    const homeDir = join(folder, 'home');
    const mark = join(folder, 'hook-ran');
    await mkdir(homeDir);
    await writeClaudeHome(homeDir, { trustedProjects: [project] });
    await writeProject(project, mark);
    const script = calls.map(({ tool, input }): ScriptedTurn => ({ tools: [{ name: tool, input }] }));
    const api = await startScriptedApi([...script, { say: 'Done.' }]);
    try {
      const env = {
        ...scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path }),
        ...OWN_SOURCES_ENVIRONMENT,
        ...WITHOUT_MENTIONS,
        CLAUDE_CODE_TMPDIR: folder,
      };
      const session = await runSession({ claude, project, env }, signal);
      const results = await resultsIn(join(homeDir, '.claude'), session.id);
      const instructions = ['CLAUDE.md', 'more.md'].filter(
        (name) => !session.instructions.has(join(project, name)),
      );
      return [
        ...calls.flatMap((call, index) => differenceOf(call, results[index])),
        ...differencesIn(api.requests.filter(({ kind }) => kind === 'turn')),
        ...instructions.map((name) => `that ${name} instructs it is not told`),
        ...(existsSync(mark) ? ['a hook of the project ran, although its settings sleep'] : []),
      ];
    } finally {
      await api.dispose();
    }
  });
}

/** A project that would run something, were its settings used. */
async function writeProject(project: string, mark: string): Promise<void> {
  const hooks = [{ hooks: [{ type: 'command', command: `touch '${mark}'` }] }];
  const settings = { hooks: { PreToolUse: hooks, PermissionRequest: hooks, SessionStart: hooks } };
  const files = {
    'secret/key': 'the key',
    names: 'made',
    mentioned: UNASKED,
    'CLAUDE.md': 'Read @more.md',
    'more.md': 'More.',
    '.claude/settings.json': JSON.stringify(settings),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
}

/** What was offered and sent to the model, other than the bridge relies on. */
function differencesIn(turns: readonly ScriptedRequest[]): string[] {
  const names = new Set(turns.flatMap(({ toolNames, deferredNames }) => [...toolNames, ...deferredNames]));
  const unknown = [...names].filter((name) => toolRow(name) === undefined);
  const isRead = JSON.stringify(turns).includes(UNASKED);
  return [
    ...unknown.map((name) => `the tool ${name} is not known to the bridge`),
    ...(isRead ? ['a file that a prompt names after @ is read unasked'] : []),
    ...(names.has('CronCreate') ? ['schedules are offered, although they are switched off'] : []),
  ];
}

function differenceOf({ tool, input, expected }: Call, result: ToolOutcome | undefined): string[] {
  const found = outcomeOf(result);
  const words = JSON.stringify(input['command'] ?? input['file_path'] ?? input['url'] ?? '');
  return found === expected ? [] : [`${tool} ${words} is ${found}, not ${expected}`];
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

/** One session by the print driver, in which each request is denied. Resolves when it has ended. */
async function runSession(
  { claude, project, env }: { claude: string; project: string; env: Readonly<Record<string, string>> },
  signal: AbortSignal,
) {
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
