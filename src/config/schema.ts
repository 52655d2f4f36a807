import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { checksSchema } from '../checks/brief.js';
import { commandError } from './command-words.js';
import { approvalModes } from '../approvals/modes.js';
import { MACHINE_NAME_PATTERN } from '../base/ids.js';
import { ruleRowSchema } from './rule-setting.js';
import { innerOf, worded, wordsOf } from './expected.js';

/** The format of a setting in an environment variable or a flag. */
export type SettingForm =
  'text' | 'text or list' | 'integer' | 'yes or no' | 'list' | 'paths' | 'list or all' | 'json';

/** A variable of another name. */
export interface OtherVariable {
  readonly name: string;
  /** Its value in the form of the setting's own variable; undefined where it sets nothing. */
  readonly read?: (text: string) => string | undefined;
  /** A valid value, when that is another one than for the setting's own variable. */
  readonly expected?: string;
}

export interface SettingFacts {
  /** Name of the environment variable. */
  readonly env: string;
  readonly form: SettingForm;
  /** Names of the same setting in other programs; they count when `env` is not set. */
  readonly otherEnv?: readonly OtherVariable[];
  /** A valid value, in the words of an error: "expected …". */
  readonly expected: string;
}

/** What zod has no field for; every key of the schema is registered. */
const settingFacts = z.registry<SettingFacts>();

const MAX_LIST_ITEMS = 100;
const MAX_TEXT_CHARS = 4_096;
const MAX_PATTERN_CHARS = 1_000;
/** A day; no decision can wait longer than its task. */
const MAX_TASK_SECONDS = 86_400;
/** A little below the time limit of the plugin's hook (600 s). */
const MAX_NATIVE_WAIT_SECONDS = 590;
/** Ten years. */
const MAX_HISTORY_DAYS = 3_650;
/** Less than one task of some length needs. */
const MIN_HISTORY_BYTES = 1_048_576;
/** Each is a process of some hundred megabytes, with a keeper process. */
const MAX_CONCURRENT_TASKS = 1_000;
/** Claude Code alone takes some 400 MB; no machine has more than the maximum. */
const MIN_TASK_MEMORY_MB = 512;
const MAX_TASK_MEMORY_MB = 1_048_576;

const text = z.string().max(MAX_TEXT_CHARS);

const PATH_WORDS = 'an absolute path, or one that begins with ~/';
/** The type of every path in the settings; `withHome` expands `~` before it is checked. */
const absolutePath = worded(
  PATH_WORDS,
  text.superRefine((path, context) => {
    const message = pathError(path);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  }),
);

const PROGRAM_WORDS = `the name of a program to find on PATH, or ${PATH_WORDS}`;
const shellProgram = worded(
  PROGRAM_WORDS,
  text.refine((program) => commandError([program]) === undefined, PROGRAM_WORDS),
);
const claudeCommand = z.union([text, z.array(text).max(MAX_LIST_ITEMS)]).superRefine((command, context) => {
  const message = commandError(command);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const variableName = worded(
  'the name of an environment variable, such as "GOPATH", or a prefix and a *, such as "AWS_*"',
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}\*?$/),
);
const HOST_WORDS =
  'the name of a host, such as "registry.npmjs.org", or "*." and a domain for all hosts below it';
const hostName = worded(HOST_WORDS, z.string().regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/i));
const pattern = worded(
  `a regular expression of 1 to ${MAX_PATTERN_CHARS} characters`,
  z.string().min(1).max(MAX_PATTERN_CHARS),
);
const toolsetName = worded(
  'the name of a toolset, such as "tasks" ("all" cannot be in a list)',
  z.string().regex(/^(?!all$)[a-z][a-z0-9_-]{0,63}$/),
);
const imageName = worded(
  'the name of an image, such as "node:22" or "registry.example/team/image:tag"',
  text.regex(/^[a-z0-9][A-Za-z0-9._:/@-]*$/),
);

const taskContainer = z.strictObject({
  image: imageName.nullable().default(null),
  network: worded(
    'the name of a network, such as "bridge", "none" or "host"',
    z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/),
  ).default('bridge'),
  memory_mb: integer(MIN_TASK_MEMORY_MB, MAX_TASK_MEMORY_MB, 4_096),
  home: absolutePath.nullable().default(null),
});

const permissionMode = z.enum(approvalModes);
const permissionModes = worded(
  `a list with any of "${approvalModes.join('", "')}"`,
  z.array(permissionMode).min(1),
);
const MACHINE_WORDS = '{ "command", "bridge"?, "pass_environment"? }';
const machineName = worded(
  'a name of small letters, digits and dashes that begins with a letter',
  z.string().regex(MACHINE_NAME_PATTERN),
);
const machineWords = worded(
  'a list of words, the first one not empty',
  z
    .array(text)
    .min(1)
    .max(MAX_LIST_ITEMS)
    .refine(([first]) => first !== ''),
);
const machine = worded(
  MACHINE_WORDS,
  z.strictObject({
    command: machineWords,
    bridge: machineWords.optional(),
    pass_environment: z.array(variableName).max(MAX_LIST_ITEMS).optional(),
  }),
);

const PROJECT_WORDS =
  '{ "default_permission_mode"?, "allowed_permission_modes"?, "trust"?: the hash of each file, by its name, "own_hooks"?: true or false, "checks"?: a list of { "name", "command" } }';
const project = worded(
  PROJECT_WORDS,
  z.strictObject({
    default_permission_mode: permissionMode.optional(),
    allowed_permission_modes: permissionModes.optional(),
    trust: worded('the hash of each file, by its name', z.record(z.string(), z.string())).optional(),
    own_hooks: z.boolean().optional(),
    checks: worded(
      'a list of at most 10 checks, each { "name", "command", "timeout_seconds"?, "tests"?, "each"?, "setup"? }, with names of their own',
      checksSchema,
    ).optional(),
  }),
);

const budget = worded(
  'an object with any of "max_cost_usd" (from 0.01) and "max_tokens" (a whole number), or null for no limit',
  z.strictObject({
    max_cost_usd: z.number().min(0.01).nullable().default(null),
    max_tokens: z.int().min(1).nullable().default(null),
  }),
);

const client = worded(
  'an object with any of "forms" (true or false) and "answers" ("auto", "both" or "text")',
  z.strictObject({
    forms: z.boolean().default(true),
    answers: z.enum(['auto', 'both', 'text']).default('auto'),
  }),
);

const notify = z.strictObject({
  desktop: z.boolean().default(false),
  bell: z.boolean().default(false),
  url: worded(
    'an address that begins with https:// or http://',
    z.url({ protocol: /^https?$/ }).max(MAX_TEXT_CHARS),
  )
    .nullable()
    .default(null),
  secret_file: absolutePath.nullable().default(null),
  on: worded('a list with any of "decision" and "end"', z.array(z.enum(['decision', 'end']))).default([
    'decision',
    'end',
  ]),
});

/** Every setting: its environment variable, its bounds and default, and its description. */
export const configSchema = z.strictObject({
  allowed_roots: setting(
    'MCP_ALLOWED_ROOTS',
    z.array(absolutePath).max(MAX_LIST_ITEMS).default([]),
    'Folders in which the bridge may start tasks, read and write. Links are resolved before a path is checked. Without any, every call returns an error ' +
      'that says how to set them.',
    { form: 'paths', expected: `a list of at most ${MAX_LIST_ITEMS} folders, each ${PATH_WORDS}` },
  ),
  default_timeout_seconds: setting(
    'MCP_DEFAULT_TIMEOUT',
    integer(1, MAX_TASK_SECONDS, 3_600),
    'Time limit of a task in seconds, when the call sets none. A call sets 60 to 14400.',
    {
      otherEnv: [
        {
          name: 'TASK_TIMEOUT',
          read: secondsOf,
          expected: `a whole number of milliseconds from 1000 to ${MAX_TASK_SECONDS * 1_000}`,
        },
      ],
    },
  ),
  decision_timeout_seconds: setting(
    'MCP_DECISION_TIMEOUT',
    integer(1, MAX_TASK_SECONDS, 600),
    'Time in seconds after which an unanswered question is denied, so that no task waits forever.',
  ),
  default_permission_mode: setting(
    'MCP_DEFAULT_PERMISSION_MODE',
    permissionMode.default('auto'),
    'Permission mode of a task, when the call gives none: `auto`, `cautious`, `sandboxed` or `claude`. It must be one of `allowed_permission_modes`.',
  ),
  allowed_permission_modes: setting(
    'MCP_ALLOWED_PERMISSION_MODES',
    permissionModes.default([...approvalModes]),
    'Permission modes that a task may have, in whatever way it starts. Any other is refused.',
  ),
  native_wait_seconds: setting(
    'MCP_NATIVE_WAIT',
    integer(1, MAX_NATIVE_WAIT_SECONDS, MAX_NATIVE_WAIT_SECONDS),
    'With the plugin of Claude Code: seconds for which the bridge can answer a request of a session that you started. Its dialog in the terminal can be ' +
      'answered all the time.',
  ),
  max_log_size_bytes: setting(
    'MCP_MAX_LOG_SIZE',
    integer(4_096, 1_073_741_824, 10_485_760),
    'Bytes at which a log is rotated.',
    { otherEnv: [{ name: 'MAX_OUTPUT_BUFFER' }] },
  ),
  task_budget: setting(
    'MCP_TASK_BUDGET',
    budget.prefault({}),
    'What one task may use: `max_cost_usd`, in US dollars as Claude Code reports them, and `max_tokens` of all kinds. [What happens at the ' +
      'limit](guide.md#budgets).',
  ),
  day_budget: setting(
    'MCP_DAY_BUDGET',
    budget.prefault({}),
    'The same for all tasks and questions started on one day of this machine’s clock, removed ones included. When it is used up, running ones are ended and ' +
      'none starts until the next day.',
  ),
  task_history_size: setting(
    'MCP_TASK_HISTORY_SIZE',
    integer(1, 10_000, 500),
    'Number of finished tasks to keep. Of the toolset `conversation` the newest 200 answers stay.',
  ),
  task_history_days: setting(
    'MCP_TASK_HISTORY_DAYS',
    integer(1, MAX_HISTORY_DAYS, 90),
    'Days after which a finished task is removed; its files may hold secrets.',
  ),
  task_history_bytes: setting(
    'MCP_TASK_HISTORY_BYTES',
    integer(MIN_HISTORY_BYTES, 1_099_511_627_776, 2_147_483_648),
    'Bytes that the files of all finished tasks may have. Beyond them the oldest recordings go first, then the oldest logs and journals, at last whole ' +
      'tasks with their receipts.',
  ),
  on_disconnect: setting(
    'MCP_ON_DISCONNECT',
    z.enum(['keep', 'stop']).default('keep'),
    'What happens to a running task when its last server is gone: `keep` lets it run, `stop` ends it after 30 seconds.',
  ),
  default_tree_depth: setting(
    'MCP_TREE_DEPTH',
    integer(1, 10, 2),
    'Depth of a file tree, when the call sets none; a call sets 5 at most.',
  ),
  max_diff_size_bytes: setting(
    'MCP_MAX_DIFF_SIZE',
    integer(1, 400_000, 32_768),
    'Bytes of one page of a diff; `cursor` gives the next. An answer contains its page twice, as text and as structured content, and stays below 1 MB.',
  ),
  default_header_lines: setting(
    'MCP_HEADER_LINES',
    integer(1, 10_000, 50),
    'Number of lines that `read_file` returns with `header`.',
  ),
  allow_protected_writes: setting(
    'MCP_ALLOW_PROTECTED_WRITES',
    z.boolean().default(false),
    'Whether tools may write files that run later without another question, or that instruct later sessions: `.git`, `.github`, `.claude`, `CLAUDE.md`, ' +
      '`.mcp.json`, `.vscode`, `.envrc`, `node_modules` and similar ones. Tools never write the settings and state of the bridge.',
  ),
  max_concurrent_tasks: setting(
    'MCP_MAX_CONCURRENT_TASKS',
    integer(0, MAX_CONCURRENT_TASKS, 0),
    'Number of tasks that run at the same time, over all servers of the user; further ones wait in the queue. 0 fits the machine: ten for each core, at ' +
      'most half of the memory at 512 MB each, from 2 to 64.',
  ),
  delegate_max_running: setting(
    'MCP_DELEGATE_MAX_RUNNING',
    integer(1, MAX_CONCURRENT_TASKS, 1),
    'Number of running tasks at which `DelegateTask` refuses another one.',
  ),
  inside_tasks: setting(
    'MCP_INSIDE_TASKS',
    z.enum(['off', 'look']).default('off'),
    'What the server offers inside a task, where the Claude Code there has it in its settings: nothing (`off`), or tools that only read (`look`).',
  ),
  resume_after_limit: setting(
    'MCP_RESUME_AFTER_LIMIT',
    z.boolean().default(false),
    'Whether a task waits, within its time limit, and then continues automatically when it reaches a usage limit or when the API is overloaded or ' +
      'unreachable for some minutes. Otherwise it fails at once and says when the limit resets.',
  ),
  conversation_skip_permissions: setting(
    'MCP_CONVERSATION_SKIP_PERMISSIONS',
    z.boolean().default(false),
    'Whether the toolset `conversation` runs Claude Code with `--dangerously-skip-permissions`: it then asks for no permission, and no rule applies.',
  ),
  shell: setting(
    'MCP_SHELL',
    shellProgram.default('/bin/bash'),
    'POSIX shell that runs the fixed wrapper around every program in a terminal. The wrapper holds no text of a caller.',
  ),
  process_mode: setting(
    'MCP_PROCESS_MODE',
    z.enum(['host', 'docker']).default('host'),
    'Where `spawn` runs a program, when the call does not say: on this machine (`host`) or in a container (`docker`).',
  ),
  docker_image: setting(
    'MCP_DOCKER_IMAGE',
    imageName.default('debian:stable-slim'),
    'Image of a container of `spawn`, when the call names none. The bridge pulls no images.',
  ),
  task_container: setting(
    'MCP_TASK_CONTAINER',
    taskContainer.prefault({}),
    '[Container](containers.md) of a task with `isolation: "docker"`, which needs an `image` that holds Claude Code. `network` is `bridge` (the engine’s ' +
      'default, which reaches the API), `none`, `host` or the name of a network. `home` is the folder of this machine that is the home directory there; by ' +
      'default the bridge makes one for each project.',
  ),
  claude_command: setting(
    'MCP_CLAUDE_COMMAND',
    claudeCommand.default('claude'),
    'Program to start for a task: a name on `PATH` or an absolute path, optionally with arguments. A string is split at spaces, unless it is the path of a ' +
      'file; a list is used as it is. No shell reads it. A program that is not named `claude` is run with `--version` before a task, to check whether it ' +
      'wraps Claude Code.',
    {
      form: 'text or list',
      expected: 'a command line such as "claude", or a list of its words',
      otherEnv: [{ name: 'CLAUDE_CLI_NAME' }, { name: 'CLAUDE_CODE_PATH' }],
    },
  ),
  pass_environment: setting(
    'MCP_PASS_ENVIRONMENT',
    z.array(variableName).max(MAX_LIST_ITEMS).default([]),
    'Names of environment variables that the agent inherits in addition to the built-in list; `NAME_*` means every name with that prefix.',
    { expected: `a list of at most ${MAX_LIST_ITEMS} names of environment variables` },
  ),
  sandbox_domains: setting(
    'MCP_SANDBOX_DOMAINS',
    z.array(hostName).max(MAX_LIST_ITEMS).default([]),
    'Hosts that commands of a task in mode `sandboxed` may reach; all others are refused.',
    { expected: `a list of at most ${MAX_LIST_ITEMS} hosts, each ${HOST_WORDS}` },
  ),
  auto_approve_patterns: setting(
    'MCP_AUTO_APPROVE_PATTERNS',
    z
      .array(pattern)
      .max(MAX_LIST_ITEMS)
      .default(['Do you want to proceed\\?', '\\[y/N\\]', '\\[Y/n\\]', 'Continue\\?', 'Approve\\?']),
    'Regular expressions (RE2), searched for at the bottom of the screen of a program that is not Claude Code. A match is answered with yes, once per ' +
      'appearance.',
    {
      form: 'json',
      expected: `a list of at most ${MAX_LIST_ITEMS} regular expressions (in the environment: a JSON array of strings)`,
    },
  ),
  rules: setting(
    'MCP_RULES',
    z.array(ruleRowSchema).max(MAX_LIST_ITEMS).default([]),
    'What tasks may do, in Claude Code’s permission syntax: rows of `rule` (such as `Bash(git push *)`, `Edit(src/**)`, `WebFetch(domain:example.com)`), ' +
      '`verdict` (`deny`, `allow` or `ask`) and `reason`. [How rules work](guide.md#rules).',
    {
      form: 'json',
      expected: `a list of at most ${MAX_LIST_ITEMS} rules, each { "rule", "verdict", "reason" } (in the environment: a JSON array)`,
    },
  ),
  projects: setting(
    'MCP_PROJECTS',
    z.record(absolutePath, project).default({}),
    '`default_permission_mode`, `allowed_permission_modes`: for the projects in this folder, in place of those for all. `trust`: `claude-code-bridge trust` ' +
      'shows a project’s own configuration of Claude Code and writes its hashes here; while they match, tasks in `cautious` and `sandboxed` use its settings, ' +
      'hooks, MCP servers and skills. `own_hooks`: if false, such tasks start without your own settings of Claude Code: no hook, variable, skill, agent or ' +
      'memory of ~/.claude, and no apiKeyHelper. `checks`: what shows whether work is done, for tasks that are given none ([checks](checks.md)).',
    { expected: `an object of folders, each ${PROJECT_WORDS}` },
  ),
  machines: setting(
    'MCP_MACHINES',
    z.record(machineName, machine).default({}),
    'Other machines on which tasks may run, by name. `command`: gives a shell there, such as `["ssh", "gpu"]` or `["docker", "exec", "-i", "box"]`. ' +
      '`bridge`: what runs the bridge there; by default the one that `claude-code-bridge machines add` installed, else the one on PATH. `pass_environment`: ' +
      'names of variables that tasks there get from here. [How machines work](machines.md).',
    { expected: `an object of names, each ${MACHINE_WORDS}` },
  ),
  toolsets: setting(
    'MCP_TOOLSETS',
    z
      .union([z.literal('all'), z.array(toolsetName).min(1).max(MAX_LIST_ITEMS)])
      .default(['tasks', 'project', 'files', 'git', 'board']),
    'Toolsets that the server offers, or `all`.',
    { form: 'list or all', expected: '"all", or a list of toolset names such as "tasks" and "git"' },
  ),
  client: setting(
    'MCP_CLIENT',
    client.prefault({}),
    'How to speak to the client. `forms`: if false, the person at the client gets no form and the model answers, as for `goose run`, which ends at the ' +
      'first form. `answers`: `both` gives each answer as text and as structured content, `text` as text alone; `auto` gives text alone to clients that pass ' +
      'both to their model (Copilot CLI, LangChain).',
  ),
  notify: setting(
    'MCP_NOTIFY',
    notify.prefault({}),
    '[Notices](guide.md#notices) that a task asks, or has ended. `desktop`: by the system (`notify-send`, on macOS `osascript`). `bell`: `run` rings the ' +
      'terminal’s bell before a question. `url`: an address that gets each as JSON by POST, without text of the task. `secret_file`: a file with the secret ' +
      'that signs it. `on`: which notices.',
  ),
  native_messages: setting(
    'MCP_NATIVE_MESSAGES',
    z.boolean().default(false),
    'With the plugin of Claude Code: whether `message_task` may send messages to a session that you started. It never types into its terminal.',
  ),
  state_dir: setting(
    'MCP_STATE_DIR',
    absolutePath.nullable().default(null),
    'Folder for task records and locks. Default: `$XDG_STATE_HOME/claude-code-bridge`, otherwise `~/.local/state/claude-code-bridge`. Name a new or an ' +
      'empty folder outside your projects: one that holds other files is refused.',
    { expected: `${PATH_WORDS}, or null` },
  ),
  state_owner: setting(
    'MCP_STATE_OWNER',
    z.string().min(1).max(100).nullable().default(null),
    'A name for a state directory on a volume that moves from machine to machine, such as that of a pod: with the same name, the next machine goes on with ' +
      'it. Two machines must never use it at the same time. Without it, what another machine has written can only be read, until `claude-code-bridge state ' +
      'adopt`.',
    { expected: 'a name of at most 100 characters, or null' },
  ),
  log_level: setting(
    'MCP_LOG_LEVEL',
    z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    'Lowest level of the lines in the server’s log on stderr.',
    {
      otherEnv: [
        { name: 'LOG_LEVEL' },
        { name: 'MCP_CLAUDE_DEBUG', read: debugOf, expected: 'true for debug' },
      ],
    },
  ),
});

export type Config = z.infer<typeof configSchema>;
export const configKeySchema = configSchema.keyof();
export type ConfigKey = z.infer<typeof configKeySchema>;
export const configKeys: readonly ConfigKey[] = configKeySchema.options;

/** The facts of one setting; a test checks that every key has some. */
export function factsOf(key: ConfigKey): SettingFacts {
  const facts = settingFacts.get(configSchema.shape[key]);
  if (facts === undefined) throw new Error(`The setting ${key} has no environment name.`);
  return facts;
}

/** `form` and `expected` are those of the type, unless it can be written in several ways. */
function setting<Type extends z.ZodType>(
  env: string,
  type: Type,
  words: string,
  more: Partial<Omit<SettingFacts, 'env'>> = {},
): Type {
  const facts = { env, form: formOf(type), expected: wordsOf(type) ?? '', ...more };
  const described = type.describe(words);
  settingFacts.add(described, facts);
  return described;
}

function formOf(type: z.ZodType): SettingForm {
  const inner = innerOf(type);
  if (inner instanceof z.ZodNumber) return 'integer';
  if (inner instanceof z.ZodBoolean) return 'yes or no';
  if (inner instanceof z.ZodArray) return 'list';
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord ? 'json' : 'text';
}

function integer(from: number, to: number, byDefault: number) {
  return z.int().min(from).max(to).default(byDefault);
}

/** Milliseconds as seconds; other texts as they are. */
function secondsOf(milliseconds: string): string {
  return /^[1-9][0-9]*$/.test(milliseconds) ? String(Math.round(Number(milliseconds) / 1_000)) : milliseconds;
}

/** Of what people write into a variable that is on or off. */
function debugOf(given: string): string | undefined {
  return /^(?:true|1|yes|on)$/i.test(given) ? 'debug' : undefined;
}

/** What was expected, or undefined for a valid absolute path (`~` is already expanded). */
function pathError(path: string): string | undefined {
  if (path.includes('\0')) return 'a path without NUL characters';
  if (path.startsWith('~')) return `${PATH_WORDS} (~name, the home of another user, is not supported)`;
  if (!isAbsolute(path)) return PATH_WORDS;
  return undefined;
}
