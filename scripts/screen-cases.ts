// The screens of the real CLI that are kept as fixtures: how each is reached. Data, and the words of the scripted model.
import { join } from 'node:path';
import type { ScriptedTurn } from '../src/cli/demo/scripted-api.js';
import { SUBSCRIBER, limitReached } from '../tests/harness/limit-answers.js';
import { runs, says, thinksForEver } from '../tests/harness/scripted-turns.js';

/** How a screen is reached. */
interface Way {
  /** `untrusted`: the project was never opened. `unknown-key`: the API key was never approved. `first-start`: no first start yet. */
  readonly home?: 'untrusted' | 'unknown-key' | 'first-start' | 'empty';
  readonly withKey?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the project, by their name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  /** What the model does, in this folder. */
  readonly script?: readonly ScriptedTurn[] | ((project: string) => readonly ScriptedTurn[]);
  /** When the screen holds the first, the second is typed. */
  readonly step?: readonly [RegExp, string];
}

export interface ScreenCase extends Way {
  readonly name: string;
  /** In words, for `meta.json`. */
  readonly about: string;
  /** The screen is saved when it holds this and has settled. */
  readonly until: RegExp;
}

const RULE = '─'.repeat(120);
/** What a program would print to be taken for a dialog of the CLI. */
const FORGED_DIALOG = `${RULE}
 Accessing workspace:

 /etc

 ❯ 1. Yes, I trust this folder
   2. No, exit

 Enter to confirm · Esc to cancel`;
const FORGED_PERMISSION = `${RULE}
 Bash command

   echo harmless

 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel · Tab to amend`;
const HOUR_MS = 3_600_000;
const ENTER = '\r';
const ESCAPE = '\x1b';
const isIdle = /\? for shortcuts/;
const isAsked = /Do you want to proceed\?[^]*Tab to amend/;
const subscriber = SUBSCRIBER;

const shows = (name: string, about: string, until: RegExp, way: Way = {}): ScreenCase => ({
  ...{ name, about, until },
  ...way,
});
const mcpServers = (...names: readonly string[]) => ({
  '.mcp.json': JSON.stringify({
    mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'true' }])),
  }),
});
const bash = (command: string, description: string): ScriptedTurn => ({
  say: 'I will run it.',
  tools: [{ name: 'Bash', input: { command, description } }],
});
/** Each try of the client fails. */
const fails = (status: number, type: string, message: string): readonly ScriptedTurn[] =>
  Array.from({ length: 100 }, () => ({ error: { status, type, message } }));

export const screenCases: readonly ScreenCase[] = [
  shows('trust-folder', 'The first start in a directory.', /I trust this folder/, { home: 'untrusted' }),
  shows('project-mcp-server', 'The project names an MCP server.', /MCP server.*found in this project/i, {
    files: mcpServers('weather'),
  }),
  shows(
    'project-mcp-servers',
    'The project names several MCP servers.',
    /MCP server.*found in this project/i,
    { files: mcpServers('weather', 'maps') },
  ),
  shows('api-key', 'An API key in the environment that was never approved.', /Detected a custom API key/, {
    home: 'unknown-key',
  }),
  shows(
    'settings-error',
    'A settings file with a value that is not allowed.',
    /Continue without these settings/,
    { files: { '.claude/settings.json': JSON.stringify({ cleanupPeriodDays: 0 }) } },
  ),
  shows('run-command', 'May a command be run?', isAsked, { script: [bash('touch new.txt', 'Make a file')] }),
  shows('idle', 'The first turn is over.', /Hello\.[^]*\? for shortcuts/, { script: [says('Hello.')] }),
  shows('busy', 'A turn runs.', /esc to interrupt/, { script: [thinksForEver] }),
  shows('busy-command', 'A command runs.', /(Running…|tail -f)[^]*esc to interrupt/, {
    script: [bash('tail -f /dev/null; touch a', 'Wait')],
    step: [isAsked, '1'],
  }),
  shows('idle-after-turn', 'A turn with a tool is over.', /The file is there\.[^]*\? for shortcuts/, {
    script: (project) => [
      {
        say: 'I will write it.',
        tools: [{ name: 'Write', input: { file_path: join(project, 'hello.txt'), content: 'hello\n' } }],
      },
      says('The file is there.'),
    ],
    step: [/Do you want to create/, '1'],
  }),
  shows('composer-with-text', 'Text stands in the input box.', /❯\snot sent yet/, {
    script: [says('Hello.')],
    step: [isIdle, 'not sent yet'],
  }),
  shows('composer-with-lines', 'Several lines stand in the input box.', /❯ 1\. Yes/, {
    script: [says('Hello.')],
    step: [isIdle, '\x1b[200~one\ntwo\n❯ 1. Yes\x1b[201~'],
  }),
  shows('retrying', 'The API fails, and the CLI tries again.', /attempt [3-9]\/\d+/, {
    script: fails(500, 'api_error', 'Internal server error'),
  }),
  shows('interrupted', 'Esc was pressed while a turn ran.', /Listed 1 directory[^]*\? for shortcuts/, {
    script: [runs('ls', 'I will look.'), thinksForEver],
    step: [/I will look\.[^]*esc to interrupt/, ESCAPE],
  }),
  shows(
    'interrupted-early',
    'Esc was pressed before the agent said anything: the prompt is back in the input box.',
    /❯\sDo the work\.\s*\n─/,
    { script: [thinksForEver], step: [/esc to interrupt/, ESCAPE] },
  ),
  shows('api-error', 'The API refuses the request.', /API Error[^]*\? for shortcuts/, {
    script: fails(400, 'invalid_request_error', 'The scripted model refuses.'),
  }),
  shows(
    'usage-limit',
    'The limit of five hours is reached in the middle of a turn.',
    /Continuing automatically at|Stop and wait for limit to reset/,
    { ...subscriber, script: [runs('echo hi'), limitReached(Date.now() + 2 * HOUR_MS)] },
  ),
  shows('usage-limit-week', 'The limit of the week is reached.', /Stop and wait for limit to reset/, {
    ...subscriber,
    script: [limitReached(Date.now() + 72 * HOUR_MS, 'seven_day')],
  }),
  shows(
    'context-full',
    'The conversation is longer than the model takes.',
    /Prompt is too long[^]*\? for shortcuts/,
    {
      script: fails(400, 'invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    },
  ),
  shows('not-logged-in', 'No key and no account.', /Not logged in[^]*\? for shortcuts/, { withKey: false }),
  shows('onboarding-theme', 'The very first start.', /Choose the text style/, { home: 'first-start' }),
  shows('onboarding-security', 'The very first start, after its first screen.', /Security notes/, {
    home: 'first-start',
    step: [/Choose the text style/, ENTER],
  }),
  shows('unreachable', 'The very first start without the service.', /Unable to connect/, {
    home: 'empty',
    env: { HTTPS_PROXY: 'http://127.0.0.1:9' },
  }),
  shows('login-method', 'The person is asked to log in.', /Select login method/, {
    withKey: false,
    prompt: '/login',
  }),
  shows('forged-in-answer', 'The agent says what looks like a dialog.', isIdle, {
    script: [says(FORGED_DIALOG)],
  }),
  shows('forged-in-output', 'A command prints what looks like a dialog.', /Shown\.[^]*\? for shortcuts/, {
    files: { 'forged.txt': `${FORGED_DIALOG}\n` },
    script: [runs('cat forged.txt'), says('Shown.')],
  }),
  shows('forged-in-command', 'The command of a permission dialog looks like another dialog.', isAsked, {
    script: [bash(`touch a <<'END'\n${FORGED_DIALOG}\nEND`, 'Do it')],
  }),
  shows(
    'forged-in-description',
    'The description of a command looks like another dialog.',
    new RegExp(`${isAsked.source}[^]*${isAsked.source}`),
    { script: [bash('touch a', `Do it\n${FORGED_PERMISSION}`)] },
  ),
];
