// Pure: the environment of an agent, made from the bridge's own by a list of what it may know.

import { MARK_VARIABLE } from '../os/mark-variable.js';

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'] as const;
const EXCEPTIONS = ['NO_PROXY', 'no_proxy'] as const;

/** A name, or with `*` at its end the beginning of names. */
const ALWAYS: readonly string[] = [
  ...['HOME', 'PATH', 'SHELL', 'USER', 'LOGNAME', 'LANG', 'LC_*', 'TZ', 'TMPDIR', 'XDG_*', 'SSH_AUTH_SOCK'],
  ...PROXIES,
  ...EXCEPTIONS,
  ...['SSL_CERT_*', 'NODE_EXTRA_CA_CERTS'],
  ...['ANTHROPIC_*', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN', 'IS_SANDBOX'],
  ...['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', 'DISABLE_TELEMETRY', 'DISABLE_AUTOUPDATER'],
  'DISABLE_ERROR_REPORTING',
];

/** Names that go along only when the switch is on: credentials of a cloud stay private otherwise. */
const BY_SWITCH: readonly { readonly name: string; readonly needs: readonly string[] }[] = [
  { name: 'CLAUDE_CODE_USE_BEDROCK', needs: ['AWS_*'] },
  { name: 'CLAUDE_CODE_USE_VERTEX', needs: ['GOOGLE_*', 'CLOUD_ML_REGION', 'VERTEX_*'] },
  { name: 'CLAUDE_CODE_USE_FOUNDRY', needs: ['AZURE_*'] },
];

/** What the built-in list passes for Claude Code's own requests; no command needs it. */
const KEY_OF_SESSION =
  /^(ANTHROPIC|CLAUDE|AWS|AZURE|GOOGLE|VERTEX)_\w*(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|CUSTOM_HEADERS)/;

/** Switch values that mean "off", as the CLI reads them. */
const OFF = new Set(['', '0', 'false', 'no', 'off']);

/**
 * Not passed by a pattern that is only `*`: they show the child that it runs inside another agent, load code into it, or
 * point git at another repository.
 */
const NEVER_BY_STAR: readonly string[] = ['CLAUDECODE', 'CLAUDE_CODE_*', 'NODE_OPTIONS', 'GIT_*', 'CI'];

export interface ChildEnvironmentOptions {
  /** The task's secret, see MARK_VARIABLE. */
  readonly mark: string;
  /** Set as they are, over everything inherited. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Further names that the user lets through; a `*` at the end makes a prefix. */
  readonly passEnvironment?: readonly string[];
}

/** The whole environment of a child. Nothing that is not named here or in the options reaches it. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: ChildEnvironmentOptions,
): Record<string, string> {
  const patterns = [...ALWAYS];
  for (const { name, needs } of BY_SWITCH) {
    if (!OFF.has(env[name]?.toLowerCase() ?? '')) patterns.push(name, ...needs);
  }
  const asked = options.passEnvironment ?? [];
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (isPassed(name, asked) || patterns.some((pattern) => fits(name, pattern))) passed[name] = value;
  }
  return {
    ...passed,
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    ...options.extra,
    [MARK_VARIABLE]: options.mark,
  };
}

/** The names in a child's environment that hold keys for Claude Code alone: those that the user lets through are not among them. */
export function sessionKeys(
  env: Readonly<Record<string, string>>,
  passEnvironment: readonly string[],
): string[] {
  return Object.keys(env).filter((name) => KEY_OF_SESSION.test(name) && !isPassed(name, passEnvironment));
}

function isPassed(name: string, asked: readonly string[]): boolean {
  const isNever = NEVER_BY_STAR.some((pattern) => fits(name, pattern));
  return asked.some((pattern) => fits(name, pattern) && (pattern !== '*' || !isNever));
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

const LOOPBACK = '127.0.0.1';

/**
 * The environment, with 127.0.0.1 among the hosts that are reached without a proxy when one is set. Claude Code sends its hooks there,
 * and would send them, with the token in them, to the proxy.
 */
export function loopbackPastProxy(env: Readonly<Record<string, string>>): Record<string, string> {
  if (!PROXIES.some((name) => (env[name] ?? '') !== '')) return { ...env };
  // A program that knows both names reads one of them: both say the same.
  const hosts = EXCEPTIONS.map((name) => env[name] ?? '').find((value) => value !== '') ?? '';
  const more = Object.fromEntries(EXCEPTIONS.map((name) => [name, withLoopback(env[name] ?? hosts)]));
  return { ...env, ...more };
}

function withLoopback(hosts: string): string {
  const names = hosts.split(/[\s,]+/).filter((name) => name !== '');
  return names.includes('*') || names.includes(LOOPBACK) ? hosts : [...names, LOOPBACK].join(',');
}
