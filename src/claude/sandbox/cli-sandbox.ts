// Pure: the `sandbox` section of Claude Code's settings for one run of a task in mode sandboxed.
import type { SandboxPaths } from '../../approvals/sandbox-paths.js';

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

/** https://code.claude.com/docs/en/settings#sandbox-settings */
export type CliSandbox = ReturnType<typeof cliSandbox>;

/** What the task's commands may reach. Secrets are removed from their environment, unless the user passes them by name. */
export function cliSandbox({ paths, domains, env, passed }: SandboxFacts) {
  const keys = Object.keys(env).filter((name) => KEYS.test(name) && !passed.includes(name));
  return {
    enabled: true,
    /** The CLI exits instead of going on without a sandbox. */
    failIfUnavailable: true,
    /** Each command is sent to the bridge first, whose rules may deny it. */
    autoAllowBashIfSandboxed: false,
    /** A command may ask to run outside the sandbox; a person decides. */
    allowUnsandboxedCommands: true,
    enableWeakerNestedSandbox: false,
    enableWeakerNetworkIsolation: false,
    allowNestedUserNamespaces: false,
    allowAppleEvents: false,
    network: {
      allowedDomains: domains,
      /** Overrides `allowedDomains`. */
      deniedDomains: domains.length === 0 ? ['*'] : [],
      /** Other hosts are refused instead of asked about, since that dialog has no hook. */
      strictAllowlist: true,
      allowAllUnixSockets: false,
    },
    filesystem: { allowWrite: paths.pinned, denyWrite: paths.denyWrite, denyRead: paths.denyRead },
    credentials: { envVars: [...keys, ...TOKENS].map((name) => ({ name, mode: 'deny' as const })) },
  };
}
