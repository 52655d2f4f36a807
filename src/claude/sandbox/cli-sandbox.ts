// Pure: the `sandbox` section of Claude Code's settings for one run of a task in mode sandboxed.
import type { SandboxPaths } from '../../approvals/sandbox-paths.js';

/** https://code.claude.com/docs/en/settings#sandbox-settings, supported by both pinned versions. */
export interface CliSandbox {
  readonly enabled: true;
  /** The CLI exits instead of going on without a sandbox. */
  readonly failIfUnavailable: true;
  /** Each command is sent to the bridge first, whose rules may deny it. */
  readonly autoAllowBashIfSandboxed: false;
  /** A command may ask to run outside the sandbox; a person decides. */
  readonly allowUnsandboxedCommands: true;
  readonly enableWeakerNestedSandbox: false;
  readonly enableWeakerNetworkIsolation: false;
  readonly allowNestedUserNamespaces: false;
  readonly allowAppleEvents: false;
  readonly network: {
    readonly allowedDomains: readonly string[];
    /** Overrides `allowedDomains`. */
    readonly deniedDomains: readonly string[];
    /** Other hosts are refused instead of asked about, since that dialog has no hook. 2.1.197 does not know this setting. */
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

/** Variables with keys for the model's API, or for a cloud through which Claude Code reaches it. */
const KEYS = /^(ANTHROPIC_|CLAUDE_CODE_OAUTH_|AWS_|GOOGLE_|VERTEX_|AZURE_)/;
/** Set by the bridge or by Claude Code itself for its own processes. */
const TOKENS = ['CLAUDE_CODE_BRIDGE_HOOK_TOKEN', 'CLAUDE_CODE_MESSAGING_TOKEN'];

export interface SandboxFacts {
  readonly paths: SandboxPaths;
  readonly domains: readonly string[];
  /** The environment of Claude Code. */
  readonly env: Readonly<Record<string, string>>;
  /** The names of variables that the user passes to commands, see `pass_environment`. */
  readonly passed: readonly string[];
}

/** What the task's commands may reach. Secrets are removed from their environment, unless the user passes them by name. */
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
