import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Not a secret: the scripted API takes any key. */
const SCRIPTED_API_KEY = `sk-ant-test-000-${'a'.repeat(28)}`;
/** The CLI remembers keys that a person approved by their last characters. */
const KEY_TAIL = SCRIPTED_API_KEY.slice(-20);

/** Writes the `.claude.json` of a user after the first start. The trust dialog of `trustedProjects` counts as answered. */
export async function writeClaudeHome(
  homeDir: string,
  { trustedProjects = [] }: { readonly trustedProjects?: readonly string[] } = {},
): Promise<void> {
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY_TAIL], rejected: [] as const },
    // Else each session of a new home asks GitHub for a list of plugins, which is not needed here.
    officialMarketplaceAutoInstallAttempted: true,
    officialMarketplaceAutoInstallFailReason: 'policy_blocked',
    projects: Object.fromEntries(trustedProjects.map((path) => [path, { hasTrustDialogAccepted: true }])),
  };
  await writeFile(join(homeDir, '.claude.json'), JSON.stringify(state), { mode: 0o600 });
}

/** Environment in which the CLI talks only to the scripted API; inherits nothing. */
export function scriptedClaudeEnvironment(options: {
  readonly homeDir: string;
  readonly apiUrl: string;
  readonly path: string;
}): Record<string, string> {
  return {
    HOME: options.homeDir,
    PATH: options.path,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: options.apiUrl,
    ANTHROPIC_API_KEY: SCRIPTED_API_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
  };
}
