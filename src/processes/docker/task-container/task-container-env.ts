// Pure: what of an agent's environment holds in a container too.

/** Places and sockets of this machine; a `*` at the end makes a prefix. */
const OF_THIS_MACHINE: readonly string[] = [
  ...['HOME', 'PATH', 'SHELL', 'USER', 'LOGNAME', 'TMPDIR', 'XDG_*', 'SSH_AUTH_SOCK', 'CLAUDE_CONFIG_DIR'],
  ...['SSL_CERT_*', 'NODE_EXTRA_CA_CERTS'],
];

/**
 * The environment of the agent, without what names places of this machine; `PATH` is the image's. Credentials go along only
 * as variables: `ANTHROPIC_API_KEY`, `CLAUDE_CODE_OAUTH_TOKEN` and what the user lets through.
 */
export function containerEnvironment(
  env: Readonly<Record<string, string>>,
  homeDir: string,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) =>
      !OF_THIS_MACHINE.some((pattern) =>
        pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
      ),
  );
  // It is one: the CLI refuses some modes to root elsewhere, and a project of root's is worked on by root.
  return { ...Object.fromEntries(kept), HOME: homeDir, IS_SANDBOX: '1' };
}
