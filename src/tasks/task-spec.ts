// Pure.
import { z } from 'zod';
import { briefSchema, checkSchema } from '../checks/brief.js';
import { budgetSchema } from './budget/budget.js';
import { recordDriverSchema, permissionModeSchema, taskIdSchema, taskPurposeSchema } from './task.js';
import { worktreeSchema } from './worktree-maker.js';

/** Where the Docker engine is: `EngineSettings`. */
export const engineSchema = z.object({
  host: z.string().nullable(),
  tlsVerify: z.boolean(),
  context: z.string().nullable(),
  configDir: z.string(),
  sockets: z.array(z.string()).readonly(),
});

/** The container of a task's agent, by the user's settings of that moment. */
const containerSchema = z.object({
  image: z.string(),
  /** `bridge` is the engine's default network, `none` is none. */
  network: z.string(),
  memory_mb: z.number().int().positive(),
  /** Folder of this machine that is the agent's home; null for one of the bridge's own. */
  home: z.string().nullable(),
  engine: engineSchema,
});
export type TaskContainerSpec = z.infer<typeof containerSchema>;

/**
 * `tasks/<task_id>/spec.json`: what a keeper is asked to run, with the settings that hold for this task.
 * Written once by the server, mode 0600, read once by the keeper. The prompt is next to it in `prompt.md`.
 */
export const taskSpecSchema = z.object({
  task_id: taskIdSchema,
  /** Real path of the project, already checked against the allowed roots. */
  project_path: z.string(),
  permission_mode: permissionModeSchema,
  /** Those that it may have, also after a plan; left out, all. */
  allowed_modes: z.array(permissionModeSchema).optional(),
  driver: recordDriverSchema,
  model: z.string().nullable(),
  keep_open: z.boolean(),
  /** `ask`: a question of a conversation. It holds no project, leaves no files there, and is no task to its callers. */
  purpose: taskPurposeSchema.optional(),
  /** Started by DelegateTask: its program gets the variables of `delegatedEnvironment`. */
  delegated: z.boolean().optional(),
  /** Claude Code asks for nothing at all: the user's explicit setting, for questions alone. */
  skip_permissions: z.boolean().optional(),
  /** The session that this one begins as a copy of, up to a message of it or (null) whole. */
  resume: z.object({ sessionId: z.guid(), messageId: z.guid().nullable() }).nullable().optional(),
  /** For a task that works in a git worktree of its own; `project_path` is in it then. */
  worktree: worktreeSchema.optional(),
  /** For a task whose agent runs in a container; left out, it runs on this machine. */
  container: containerSchema.optional(),
  timeout_seconds: z.number().positive(),
  /** What the task may use; left out, nothing limits it. */
  budget: budgetSchema.optional(),
  /** Its prompt on one line, without the brief and the checks that its agent gets after it. */
  prompt_summary: z.string().optional(),
  /** What was decided; left out, nothing is known. */
  brief: briefSchema.optional(),
  /** What shows whether the work is done; left out, there is nothing. */
  checks: z.array(checkSchema).optional(),
  /** How often what is not met goes back to the session. */
  until_met: z.int().optional(),
  created_at: z.string(),
  settings: z.object({
    shell: z.string(),
    /** Program and arguments before the bridge's own; never given to a shell. */
    claude_command: z.array(z.string()).min(1),
    auto_approve_patterns: z.array(z.string()),
    decision_timeout_seconds: z.number().positive(),
    max_log_size_bytes: z.number().int().positive(),
    /** Names of environment variables that the agent inherits besides the built-in list. */
    pass_environment: z.array(z.string()),
    /** Hosts that commands of mode sandboxed may reach; left out, none. */
    sandbox_domains: z.array(z.string()).optional(),
    /** Where the receipt may read a repository; left out, in the project alone. */
    allowed_roots: z.array(z.string()).optional(),
    /** Settings and state of the bridge itself, which the session may not edit; left out, none are known. */
    own_places: z.array(z.string()).optional(),
    /** Projects of which a person trusts the own configuration, with the hash of each file of it; left out, none. */
    trusted: z.record(z.string(), z.record(z.string(), z.string())).optional(),
    /** The user's rules, checked when the settings were loaded; left out, there are none. */
    rules: z
      .array(z.object({ rule: z.string(), verdict: z.enum(['allow', 'deny', 'ask']), reason: z.string() }))
      .optional(),
    /** Where notices of questions and of the end are sent; left out, none are. */
    notify: z
      .object({
        desktop: z.boolean(),
        url: z.string().nullable(),
        /** The file with the secret that signs. */
        secret_file: z.string().nullable(),
        on: z.array(z.enum(['decision', 'end'])),
      })
      .optional(),
    /** Where the rules stood when they were loaded: a file with its line, a variable or a flag. */
    rules_from: z.string().optional(),
    /** The checks that stand in the settings for this project: a person wrote them. */
    own_checks: z.array(checkSchema).optional(),
    /** The settings file of its server; left out, the usual place. */
    settings_file: z.string().optional(),
    /** How a person runs the bridge; left out, that is not known. */
    own_command: z.string().optional(),
    /** Parts of the configuration are left out, which may hold the login. */
    leaves_out: z.boolean().optional(),
    /** In projects below these folders a careful task starts with none of the person's own settings of Claude Code. */
    without_own_hooks: z.array(z.string()).optional(),
    /** The task waits for a limit's reset, and for an API in trouble, and goes on then; left out, it fails by them. */
    resume_after_limit: z.boolean().optional(),
    /** What all tasks of a day may use together; left out, nothing limits it. */
    day_budget: budgetSchema.optional(),
    /** The task ends when no server has been connected for so long; left out, it goes on without any. */
    stop_without_server_seconds: z.number().positive().optional(),
  }),
});
export type TaskSpec = z.infer<typeof taskSpecSchema>;
