// Pure: the part `sandbox` of Claude Code's settings for one run of a task in mode sandboxed.
import type { SandboxPaths } from '../../approvals/sandbox-paths.js';

/** https://code.claude.com/docs/en/settings#sandbox-settings, read by both pinned versions. */
export interface CliSandbox {
  readonly enabled: true;
  /** The program ends instead of going on without a sandbox. */
  readonly failIfUnavailable: true;
  /** Every command comes to the bridge first, whose rules may deny it. */
  readonly autoAllowBashIfSandboxed: false;
  /** A command may ask to run outside; that is a question to a person. */
  readonly allowUnsandboxedCommands: true;
  readonly enableWeakerNestedSandbox: false;
  readonly enableWeakerNetworkIsolation: false;
  readonly allowNestedUserNamespaces: false;
  readonly allowAppleEvents: false;
  readonly network: {
    readonly allowedDomains: readonly string[];
    /** Goes before what is allowed. */
    readonly deniedDomains: readonly string[];
    /** Other hosts are refused, not asked about: the terminal's dialog has no hook. 2.1.197 does not know this yet. */
    readonly strictAllowlist: true;
    readonly allowAllUnixSockets: false;
  };
  readonly filesystem: {
    readonly allowWrite: readonly string[];
    readonly denyWrite: readonly string[];
    readonly denyRead: readonly string[];
  };
  readonly credentials: {
    readonly envVars: readonly { readonly name: string; readonly mode: 'deny' }[];
  };
}

/** Variables that hold keys to the model's API or to a cloud, by which Claude Code reaches it. */
const KEYS = /^(ANTHROPIC_|CLAUDE_CODE_OAUTH_|AWS_|GOOGLE_|VERTEX_|AZURE_)/;
/** Set by the bridge or by Claude Code itself for its own processes. */
const TOKENS = ['CLAUDE_CODE_BRIDGE_HOOK_TOKEN', 'CLAUDE_CODE_MESSAGING_TOKEN'];

export interface SandboxFacts {
  readonly paths: SandboxPaths;
  readonly domains: readonly string[];
  /** The environment of Claude Code. */
  readonly env: Readonly<Record<string, string>>;
  /** Names that the user lets through to commands, see `pass_environment`. */
  readonly passed: readonly string[];
}

/** What commands of the task may reach. Secrets of the environment are taken from them, unless the user passes them by name. */
export function cliSandbox({ paths, domains, env, passed }: SandboxFacts): CliSandbox {
  const keys = Object.keys(env).filter((name) => KEYS.test(name) && !passed.includes(name));
  return {
    enabled: true,
    failIfUnavailable: true,
    autoAllowBashIfSandboxed: false,
    allowUnsandboxedCommands: true,
    enableWeakerNestedSandbox: false,
    enableWeakerNetworkIsolation: false,
    allowNestedUserNamespaces: false,
    allowAppleEvents: false,
    network: {
      allowedDomains: domains,
      deniedDomains: domains.length === 0 ? ['*'] : [],
      strictAllowlist: true,
      allowAllUnixSockets: false,
    },
    filesystem: { allowWrite: paths.pinned, denyWrite: paths.denyWrite, denyRead: paths.denyRead },
    credentials: { envVars: [...keys, ...TOKENS].map((name) => ({ name, mode: 'deny' })) },
  };
}
