import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { commandError } from './command-words.js';
import { approvalModes } from '../approvals/modes.js';
import { ruleRowSchema } from './rule-setting.js';

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
/** A day; no decision can wait longer than its task. */
const MAX_TASK_SECONDS = 86_400;
/** A little below the time limit of the plugin's hook (600 s). */
const MAX_NATIVE_WAIT_SECONDS = 590;
const MIN_LOG_BYTES = 4_096;
const MAX_LOG_BYTES = 1_073_741_824;
const MAX_DIFF_BYTES = 400_000;
const MAX_HISTORY_TASKS = 10_000;
/** Ten years. */
const MAX_HISTORY_DAYS = 3_650;
/** Less than one task of some length needs. */
const MIN_HISTORY_BYTES = 1_048_576;
const MAX_HISTORY_BYTES = 1_099_511_627_776;
/** Each is a process of some hundred megabytes, with a keeper process. */
const MAX_CONCURRENT_TASKS = 1_000;
const MAX_HEADER_LINES = 10_000;
const MAX_PATTERN_CHARS = 1_000;

const PATH_WORDS = 'an absolute path, or one that begins with ~/';
/** The type of every path in the settings; `withHome` expands `~` where a schema has this type. */
export const absolutePath = z
  .string(PATH_WORDS)
  .max(MAX_TEXT_CHARS, `a path of at most ${MAX_TEXT_CHARS} characters`)
  .superRefine((path, context) => {
    const error = pathError(path);
    if (error !== undefined) context.addIssue({ code: 'custom', message: error });
  });

const PROGRAM_WORDS = `the name of a program to find on PATH, or ${PATH_WORDS}`;
export const shellProgram = z
  .string(PROGRAM_WORDS)
  .max(MAX_TEXT_CHARS, PROGRAM_WORDS)
  .refine((program) => commandError([program]) === undefined, PROGRAM_WORDS);
const VARIABLE_WORDS =
  'the name of an environment variable, such as "GOPATH", or a prefix and a *, such as "AWS_*"';
const IMAGE_WORDS = 'the name of an image, such as "node:22" or "registry.example/team/image:tag"';
const imageName = z
  .string(IMAGE_WORDS)
  .max(MAX_TEXT_CHARS, IMAGE_WORDS)
  .regex(/^[a-z0-9][A-Za-z0-9._:/@-]*$/, IMAGE_WORDS);
const NETWORK_WORDS = 'the name of a network, such as "bridge", "none" or "host"';
/** Claude Code alone takes some 400 MB; no machine has more than the maximum. */
const MIN_TASK_MEMORY_MB = 512;
const MAX_TASK_MEMORY_MB = 1_048_576;
const TASK_MEMORY_WORDS = `a whole number from ${MIN_TASK_MEMORY_MB} to ${MAX_TASK_MEMORY_MB}`;
const CLIENT_WORDS = 'an object with any of "forms" (true or false) and "answers" ("auto", "both" or "text")';
const CONTAINER_WORDS = 'an object with any of "image", "network", "memory_mb" and "home"';
const TRUST_WORDS = 'the hash of each file, by its name';
const MODE_WORDS = `one of "${approvalModes.join('", "')}"`;
const MODES_WORDS = `a list with any of "${approvalModes.join('", "')}"`;
const permissionMode = z.enum(approvalModes, MODE_WORDS);
const permissionModes = z.array(permissionMode, MODES_WORDS).min(1, MODES_WORDS);
const PROJECT_WORDS =
  '{ "default_permission_mode"?, "allowed_permission_modes"?, "trust"?: the hash of each file, by its name, "own_hooks"?: true or false }';
const projectSchema = z.strictObject(
  {
    default_permission_mode: permissionMode.optional(),
    allowed_permission_modes: permissionModes.optional(),
    trust: z.record(z.string(), z.string(TRUST_WORDS), TRUST_WORDS).optional(),
    own_hooks: z.boolean('true or false').optional(),
  },
  PROJECT_WORDS,
);
const BUDGET_WORDS =
  'an object with any of "max_cost_usd" (from 0.01) and "max_tokens" (a whole number), or null for no limit';
const budgetFields = {
  max_cost_usd: z.number(BUDGET_WORDS).min(0.01, BUDGET_WORDS).nullable().default(null),
  max_tokens: z.int(BUDGET_WORDS).min(1, BUDGET_WORDS).nullable().default(null),
};
const NOTIFY_WORDS = 'an object with any of "desktop", "bell", "url", "secret_file" and "on"';
const NOTIFY_ON_WORDS = 'a list with any of "decision" and "end"';
const URL_WORDS = 'an address that begins with https:// or http://';
const DOMAIN_WORDS =
  'the name of a host, such as "registry.npmjs.org", or "*." and a domain for all hosts below it';
const TOOLSET_WORDS = 'the name of a toolset, such as "tasks" ("all" cannot be in a list)';
const TOOLSETS_WORDS = '"all", or a list of toolset names such as "tasks" and "git"';

const commandText = z
  .string('a word of a command')
  .max(MAX_TEXT_CHARS, `at most ${MAX_TEXT_CHARS} characters`);

/** Every setting: its bounds, default and description, and (in `settingFacts`) its environment variable. */
export const configSchema = z.strictObject({
  allowed_roots: z
    .array(absolutePath)
    .max(MAX_LIST_ITEMS)
    .default([])
    .describe(
      'Folders in which the bridge may start tasks, read and write. Links are resolved before a path is checked. ' +
        'Without any, the server starts, and every call returns an error that says how to set them.',
    )
    .register(settingFacts, {
      env: 'MCP_ALLOWED_ROOTS',
      form: 'paths',
      expected: `a list of at most ${MAX_LIST_ITEMS} folders, each ${PATH_WORDS}`,
    }),

  default_timeout_seconds: integer(
    'MCP_DEFAULT_TIMEOUT',
    { from: 1, to: MAX_TASK_SECONDS, byDefault: 3_600 },
    'Time limit of a task in seconds, when the call sets none. A call sets 60 to 14400. At most a day, so that no forgotten task holds its project for ever.',
    [
      {
        name: 'TASK_TIMEOUT',
        read: secondsOf,
        expected: `a whole number of milliseconds from 1000 to ${MAX_TASK_SECONDS * 1_000}`,
      },
    ],
  ),

  decision_timeout_seconds: integer(
    'MCP_DECISION_TIMEOUT',
    { from: 1, to: MAX_TASK_SECONDS, byDefault: 600 },
    'Time in seconds after which an unanswered question is denied, so that no task waits forever.',
  ),

  default_permission_mode: permissionMode
    .default('auto')
    .describe(
      'Permission mode of a task, when the call gives none: `auto`, `cautious`, `sandboxed` or `claude`. It must be one of `allowed_permission_modes`.',
    )
    .register(settingFacts, { env: 'MCP_DEFAULT_PERMISSION_MODE', form: 'text', expected: MODE_WORDS }),

  allowed_permission_modes: permissionModes
    .default([...approvalModes])
    .describe('Permission modes that a call may give. Any other is refused, in whatever way a task starts.')
    .register(settingFacts, { env: 'MCP_ALLOWED_PERMISSION_MODES', form: 'list', expected: MODES_WORDS }),

  native_wait_seconds: integer(
    'MCP_NATIVE_WAIT',
    { from: 1, to: MAX_NATIVE_WAIT_SECONDS, byDefault: MAX_NATIVE_WAIT_SECONDS },
    'With the plugin of Claude Code: time in seconds for which a request of a session that you started can be answered by the bridge. Its dialog in the terminal can be answered all the time.',
  ),

  max_log_size_bytes: integer(
    'MCP_MAX_LOG_SIZE',
    { from: MIN_LOG_BYTES, to: MAX_LOG_BYTES, byDefault: 10_485_760 },
    'Bytes at which a log is rotated: smaller ones hold little, few tools open larger ones.',
    [{ name: 'MAX_OUTPUT_BUFFER' }],
  ),

  task_budget: z
    .strictObject(budgetFields, BUDGET_WORDS)
    .prefault({})
    .describe(
      'What one task may use: `max_cost_usd`, in US dollars as Claude Code reports them, and `max_tokens`, of all kinds (input, output, cache reads and writes). ' +
        'A task that reaches one is ended with its work in place, before its next request to the model; at 80 % it warns. A call can set less; one that asks for more is refused.',
    )
    .register(settingFacts, { env: 'MCP_TASK_BUDGET', form: 'json', expected: BUDGET_WORDS }),

  day_budget: z
    .strictObject(budgetFields, BUDGET_WORDS)
    .prefault({})
    .describe(
      'The same for all tasks and questions together that were started on one day, by the clock of this machine, also of those that were removed since. When it is used up, running ones are ended and none starts until the next day.',
    )
    .register(settingFacts, { env: 'MCP_DAY_BUDGET', form: 'json', expected: BUDGET_WORDS }),

  task_history_size: integer(
    'MCP_TASK_HISTORY_SIZE',
    { from: 1, to: MAX_HISTORY_TASKS, byDefault: 500 },
    'Number of finished tasks to keep: a busy day has some dozens, and what was done last month is asked about; a list reads them all, so at most 10000. ' +
      'Of the toolset `conversation` the newest 200 answers stay.',
  ),

  task_history_days: integer(
    'MCP_TASK_HISTORY_DAYS',
    { from: 1, to: MAX_HISTORY_DAYS, byDefault: 90 },
    'Days after which a finished task is removed; its files may hold secrets that it was shown.',
  ),

  task_history_bytes: integer(
    'MCP_TASK_HISTORY_BYTES',
    { from: MIN_HISTORY_BYTES, to: MAX_HISTORY_BYTES, byDefault: 2_147_483_648 },
    'Bytes that the files of all finished tasks may have in the state directory. Beyond them the oldest recordings go first, then the oldest logs and journals, at last whole tasks with their receipts.',
  ),

  on_disconnect: z
    .enum(['keep', 'stop'])
    .default('keep')
    .describe(
      'What happens to a running task when its last server is gone: `keep` lets it run, `stop` ends it after 30 seconds without a server.',
    )
    .register(settingFacts, oneOf('MCP_ON_DISCONNECT', '"keep", "stop"')),

  default_tree_depth: integer(
    'MCP_TREE_DEPTH',
    { from: 1, to: 10, byDefault: 2 },
    'Depth of a file tree, when the call sets none; a call sets 5 at most.',
  ),

  max_diff_size_bytes: integer(
    'MCP_MAX_DIFF_SIZE',
    { from: 1, to: MAX_DIFF_BYTES, byDefault: 32_768 },
    'Size in bytes of one page of a diff; `cursor` gives the next page. An answer contains its page twice (as text and as structured content) and stays below 1 MB, which clients take.',
  ),

  default_header_lines: integer(
    'MCP_HEADER_LINES',
    { from: 1, to: MAX_HEADER_LINES, byDefault: 50 },
    'Number of lines that `read_file` returns with `header`.',
  ),

  allow_protected_writes: yesOrNo(
    'MCP_ALLOW_PROTECTED_WRITES',
    'Whether tools may write files that are run later without another question, or that instruct later sessions: `.git`, `.github`, `.claude`, `CLAUDE.md`, `.mcp.json`, `.vscode`, `.envrc`, `node_modules` and similar ones. Tools never write the settings and state of the bridge.',
  ),

  max_concurrent_tasks: integer(
    'MCP_MAX_CONCURRENT_TASKS',
    { from: 0, to: MAX_CONCURRENT_TASKS, byDefault: 0 },
    'Number of tasks that run at the same time, over all servers of the user; further ones wait in the queue. 0 means a number that fits the machine: ' +
      'ten for each core, and no more than half of the memory at 512 MB each; at least 2, at most 64.',
  ),

  delegate_max_running: integer(
    'MCP_DELEGATE_MAX_RUNNING',
    { from: 1, to: MAX_CONCURRENT_TASKS, byDefault: 1 },
    'Number of running tasks at which `DelegateTask` refuses another one.',
  ),

  inside_tasks: z
    .enum(['off', 'look'])
    .default('off')
    .describe(
      'What the server offers when it runs inside a task (because the Claude Code there has it in its settings): nothing (`off`), ' +
        'or tools that only read (`look`). It never starts tasks or answers decisions there.',
    )
    .register(settingFacts, oneOf('MCP_INSIDE_TASKS', '"off", "look"')),

  resume_after_limit: yesOrNo(
    'MCP_RESUME_AFTER_LIMIT',
    'Whether a task waits, within its time limit, and then continues automatically when it reaches a usage limit or when the API is overloaded or unreachable for some minutes. ' +
      'If false, the task fails at once and says when the limit resets.',
  ),

  conversation_skip_permissions: yesOrNo(
    'MCP_CONVERSATION_SKIP_PERMISSIONS',
    'Whether the toolset `conversation` runs Claude Code with `--dangerously-skip-permissions`: it then asks for no permission, and no rule applies.',
  ),

  shell: shellProgram
    .default('/bin/bash')
    .describe(
      'POSIX shell that runs the fixed wrapper around every program in a terminal. No text from a caller becomes part of the wrapper.',
    )
    .register(settingFacts, { env: 'MCP_SHELL', form: 'text', expected: PROGRAM_WORDS }),

  process_mode: z
    .enum(['host', 'docker'])
    .default('host')
    .describe(
      'Where `spawn` runs a program, when the call does not say: on this machine (`host`) or in a container (`docker`).',
    )
    .register(settingFacts, oneOf('MCP_PROCESS_MODE', '"host", "docker"')),

  docker_image: imageName
    .default('debian:stable-slim')
    .describe(
      'Image of a container of the toolset `process`, when the call names none. The bridge never pulls it; the error for a missing one names the command.',
    )
    .register(settingFacts, { env: 'MCP_DOCKER_IMAGE', form: 'text', expected: IMAGE_WORDS }),

  task_container: z
    .strictObject(
      {
        image: imageName.nullable().default(null),
        network: z
          .string(NETWORK_WORDS)
          .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, NETWORK_WORDS)
          .default('bridge'),
        memory_mb: z
          .int(TASK_MEMORY_WORDS)
          .min(MIN_TASK_MEMORY_MB, TASK_MEMORY_WORDS)
          .max(MAX_TASK_MEMORY_MB, TASK_MEMORY_WORDS)
          .default(4_096),
        home: absolutePath.nullable().default(null),
      },
      CONTAINER_WORDS,
    )
    .prefault({})
    .describe(
      'Container of a task with `isolation: "docker"`. `image` is an image that contains Claude Code; the bridge never pulls it, and without one such a task is refused. ' +
        '`network` is `bridge` (the engine’s default, which reaches the API of Claude Code), `none`, `host` or the name of a network. ' +
        'A program that needs more memory than `memory_mb` is killed. `home` is the folder of this machine that is the home directory in the container; by default the bridge makes one for each project, ' +
        'so that your `~/.claude` is not visible there. Pass credentials as `ANTHROPIC_API_KEY` or `CLAUDE_CODE_OAUTH_TOKEN`.',
    )
    .register(settingFacts, { env: 'MCP_TASK_CONTAINER', form: 'json', expected: CONTAINER_WORDS }),

  claude_command: z
    .union([commandText, z.array(commandText).max(MAX_LIST_ITEMS)])
    .superRefine((command, context) => {
      const error = commandError(command);
      if (error !== undefined) context.addIssue({ code: 'custom', message: error });
    })
    .default('claude')
    .describe(
      'Program to start for a task: a name on `PATH` or an absolute path, optionally with arguments. ' +
        'A string is split at spaces, unless it is the path of an existing file; a list is used as it is, and is needed where a word holds a space. No shell reads it. ' +
        'A program that is not named `claude` is run with `--version` before a task, to check whether it is a wrapper of Claude Code.',
    )
    .register(settingFacts, {
      env: 'MCP_CLAUDE_COMMAND',
      otherEnv: [{ name: 'CLAUDE_CLI_NAME' }, { name: 'CLAUDE_CODE_PATH' }],
      form: 'text or list',
      expected: 'a command line such as "claude", or a list of its words',
    }),

  pass_environment: z
    .array(z.string(VARIABLE_WORDS).regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}\*?$/, VARIABLE_WORDS))
    .max(MAX_LIST_ITEMS)
    .default([])
    .describe(
      'Names of environment variables that the agent inherits in addition to the built-in list; `NAME_*` means every name with that prefix.',
    )
    .register(settingFacts, {
      env: 'MCP_PASS_ENVIRONMENT',
      form: 'list',
      expected: `a list of at most ${MAX_LIST_ITEMS} names of environment variables`,
    }),

  sandbox_domains: z
    .array(z.string(DOMAIN_WORDS).regex(/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/i, DOMAIN_WORDS))
    .max(MAX_LIST_ITEMS)
    .default([])
    .describe(
      'Hosts that commands of a task in mode `sandboxed` may reach; all others are refused. `*.example.com` means every host below it.',
    )
    .register(settingFacts, {
      env: 'MCP_SANDBOX_DOMAINS',
      form: 'list',
      expected: `a list of at most ${MAX_LIST_ITEMS} hosts, each ${DOMAIN_WORDS}`,
    }),

  auto_approve_patterns: z
    .array(
      z
        .string('a regular expression as a string')
        .min(1, 'a regular expression that is not empty')
        .max(MAX_PATTERN_CHARS, `a regular expression of at most ${MAX_PATTERN_CHARS} characters`),
    )
    .max(MAX_LIST_ITEMS)
    .default(['Do you want to proceed\\?', '\\[y/N\\]', '\\[Y/n\\]', 'Continue\\?', 'Approve\\?'])
    .describe(
      'Regular expressions (RE2) to search for at the bottom of the screen of a program that is not Claude Code; a match is answered with yes, once per appearance.',
    )
    .register(settingFacts, {
      env: 'MCP_AUTO_APPROVE_PATTERNS',
      form: 'json',
      expected: `a list of at most ${MAX_LIST_ITEMS} regular expressions (in the environment: a JSON array of strings)`,
    }),

  rules: z
    .array(ruleRowSchema)
    .max(MAX_LIST_ITEMS)
    .default([])
    .describe(
      'What tasks may do, in Claude Code’s permission syntax: rows of `rule` (such as `Bash(git push *)`, `Edit(src/**)`, `WebFetch(domain:example.com)`), ' +
        '`verdict` (`deny`, `allow` or `ask`) and `reason`. Claude Code holds each call to them: one that denies counts before one that asks, and that before one that allows; otherwise the mode of the task decides.',
    )
    .register(settingFacts, {
      env: 'MCP_RULES',
      form: 'json',
      expected: `a list of at most ${MAX_LIST_ITEMS} rules, each { "rule", "verdict", "reason" } (in the environment: a JSON array)`,
    }),

  projects: z
    .record(absolutePath, projectSchema)
    .default({})
    .describe(
      '`default_permission_mode`, `allowed_permission_modes`: for the projects in this folder, in place of what is set for all. `trust`: you trust the project’s own configuration of Claude Code as it is: `claude-code-bridge trust` shows it, and writes here what it is made of. While that is the same, tasks in `cautious` and `sandboxed` use its settings, hooks, MCP servers and skills. ' +
        '`own_hooks`: if false, such tasks in projects in this folder start without your own settings of Claude Code: no hook, variable, skill, agent or memory of ~/.claude, and no apiKeyHelper.',
    )
    .register(settingFacts, {
      env: 'MCP_PROJECTS',
      form: 'json',
      expected: `an object of folders, each ${PROJECT_WORDS}`,
    }),

  toolsets: z
    .union([
      z.literal('all'),
      z
        .array(z.string(TOOLSET_WORDS).regex(/^(?!all$)[a-z][a-z0-9_-]{0,63}$/, TOOLSET_WORDS))
        .min(1)
        .max(MAX_LIST_ITEMS),
    ])
    .default(['tasks', 'project', 'files', 'git', 'board'])
    .describe('Toolsets that the server offers, or `all`.')
    .register(settingFacts, { env: 'MCP_TOOLSETS', form: 'list or all', expected: TOOLSETS_WORDS }),

  client: z
    .strictObject(
      {
        forms: z.boolean('true or false').default(true),
        answers: z.enum(['auto', 'both', 'text'], 'one of "auto", "both", "text"').default('auto'),
      },
      CLIENT_WORDS,
    )
    .prefault({})
    .describe(
      'How to speak to the client. `forms`: false never asks the person at the client by a form, such as for `goose run`, which ends at the first one; the model answers. ' +
        '`answers`: `both` gives each answer as text and as structured content, `text` as text alone; `auto` gives text alone to clients that pass both to their model (Copilot CLI, LangChain).',
    )
    .register(settingFacts, { env: 'MCP_CLIENT', form: 'json', expected: CLIENT_WORDS }),

  notify: z
    .strictObject(
      {
        desktop: z.boolean('true or false').default(false),
        bell: z.boolean('true or false').default(false),
        url: z
          .url({ protocol: /^https?$/, error: URL_WORDS })
          .max(MAX_TEXT_CHARS, URL_WORDS)
          .nullable()
          .default(null),
        secret_file: absolutePath.nullable().default(null),
        on: z
          .array(z.enum(['decision', 'end'], NOTIFY_ON_WORDS), NOTIFY_ON_WORDS)
          .default(['decision', 'end']),
      },
      NOTIFY_WORDS,
    )
    .prefault({})
    .describe(
      'How to tell you that a task asks, or has ended, when you look at no page. `desktop`: a notice of the system (`notify-send`, on macOS `osascript`). ' +
        '`bell`: `run` rings the bell of the terminal before a question. `url`: an address that gets each notice as JSON by POST, without any text of the task; ' +
        '`secret_file`: a file with the secret that signs it. `on`: which notices.',
    )
    .register(settingFacts, { env: 'MCP_NOTIFY', form: 'json', expected: NOTIFY_WORDS }),

  native_messages: yesOrNo(
    'MCP_NATIVE_MESSAGES',
    'With the plugin of Claude Code: whether `message_task` may send messages to a session that you started. It never types into its terminal.',
  ),

  state_dir: absolutePath
    .nullable()
    .default(null)
    .describe(
      'Folder for task records and locks. Default: `$XDG_STATE_HOME/claude-code-bridge`, otherwise `~/.local/state/claude-code-bridge`. ' +
        'Name a new or an empty folder outside your projects: one that holds other files is refused and stays as it is.',
    )
    .register(settingFacts, {
      env: 'MCP_STATE_DIR',
      form: 'text',
      expected: `${PATH_WORDS}, or null`,
    }),

  state_owner: z
    .string()
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .describe(
      'A name for a state directory on a volume that moves from machine to machine, such as that of a pod: with the same name, the next machine goes on with it. Two machines must never use it at the same time. ' +
        'Otherwise a state directory that another machine has written can only be read, until `claude-code-bridge state adopt`.',
    )
    .register(settingFacts, {
      env: 'MCP_STATE_OWNER',
      form: 'text',
      expected: 'a name of at most 100 characters, or null',
    }),

  log_level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Lowest level of the lines in the server’s log on stderr.')
    .register(settingFacts, {
      env: 'MCP_LOG_LEVEL',
      otherEnv: [
        { name: 'LOG_LEVEL' },
        { name: 'MCP_CLAUDE_DEBUG', read: debugOf, expected: 'true for debug' },
      ],
      form: 'text',
      expected: 'one of "debug", "info", "warn", "error"',
    }),
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

interface Bounds {
  readonly from: number;
  readonly to: number;
  readonly byDefault: number;
}

function integer(
  env: string,
  { from, to, byDefault }: Bounds,
  words: string,
  otherEnv: readonly OtherVariable[] = [],
) {
  const expected = `a whole number from ${from} to ${to}`;
  return z
    .int()
    .min(from)
    .max(to)
    .default(byDefault)
    .describe(words)
    .register(settingFacts, { env, form: 'integer', expected, otherEnv });
}

/** One that is false by default. */
function yesOrNo(env: string, words: string) {
  return z
    .boolean()
    .default(false)
    .describe(words)
    .register(settingFacts, { env, form: 'yes or no', expected: 'true or false' });
}

function oneOf(env: string, words: string): SettingFacts {
  return { env, form: 'text', expected: `one of ${words}` };
}

/** Milliseconds as seconds; other texts as they are. */
function secondsOf(text: string): string {
  return /^[1-9][0-9]*$/.test(text) ? String(Math.round(Number(text) / 1_000)) : text;
}

/** Of what people write into a variable that is on or off. */
function debugOf(text: string): string | undefined {
  return /^(?:true|1|yes|on)$/i.test(text) ? 'debug' : undefined;
}

/** What was expected, or undefined for a valid absolute path (`~` is already expanded). */
function pathError(path: string): string | undefined {
  if (path.includes('\0')) return 'a path without NUL characters';
  if (path.startsWith('~')) return `${PATH_WORDS} (~name, the home of another user, is not supported)`;
  if (!isAbsolute(path)) return PATH_WORDS;
  return undefined;
}
