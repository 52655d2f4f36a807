// Which variables of a task's environment reach what of Claude Code.
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import { HOOK_TOKEN_VARIABLE } from '../hooks/hook-settings.js';

type Environment = Readonly<Record<string, string>>;

/** The program by which Claude Code runs commands without the keys of the session. */
const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';
/** Where a project sleeps, see `OWN_SOURCES_ENVIRONMENT`. */
const SOURCES_VARIABLE = 'CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD';
/** The service may have been started with a proxy, and without the exception for hooks. */
const PAST_PROXY_VARIABLES = ['NO_PROXY', 'no_proxy'];
/** Names that tell Claude Code who and where its person is; none of them is a key. */
const PLACE_VARIABLES = [
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TMPDIR',
  'CLAUDE_CONFIG_DIR',
  'IS_SANDBOX',
];

/** What a session gets by its settings: everything else it has from the service. */
export function sessionVariables(env: Environment, token: string): Record<string, string> {
  return {
    ...pick(env, [MARK_VARIABLE, SHELL_VARIABLE, SOURCES_VARIABLE, ...PAST_PROXY_VARIABLES]),
    [HOOK_TOKEN_VARIABLE]: token,
  };
}

/** Any command may start the service of all background sessions, which must not belong to this task: no variable of the task reaches it. */
export function serviceEnvironment(env: Environment): Record<string, string> {
  const own = new Set([MARK_VARIABLE, SHELL_VARIABLE, SOURCES_VARIABLE, HOOK_TOKEN_VARIABLE]);
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !own.has(variable)));
}

/** What the command that ends a session needs; it is stored. */
export function placeVariables(env: Environment): Record<string, string> {
  return pick(env, PLACE_VARIABLES);
}

export function markVariable(env: Environment): Record<string, string> {
  return pick(env, [MARK_VARIABLE]);
}

function pick(env: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
