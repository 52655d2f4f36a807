import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Not a secret: the scripted API takes any key. */
const SCRIPTED_API_KEY = `sk-ant-test-000-${'a'.repeat(28)}`;
/** The CLI remembers keys that a person approved by this many of their last characters. */
const KEY_TAIL_CHARS = 20;

export interface ClaudeHomeOptions {
  /** Directories whose trust dialog counts as answered. */
  readonly trustedProjects?: readonly string[];
  /** False leaves the key unapproved, so that the CLI asks about it. */
  readonly approveKey?: boolean;
}

/** Writes the `.claude.json` of someone who has been through the first start. */
export async function writeClaudeHome(homeDir: string, options: ClaudeHomeOptions = {}): Promise<void> {
  const approved: string[] = options.approveKey === false ? [] : [SCRIPTED_API_KEY.slice(-KEY_TAIL_CHARS)];
  const projects = (options.trustedProjects ?? []).map(
    (path) => [path, { hasTrustDialogAccepted: true }] as const,
  );
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved, rejected: [] as const },
    // Else each session of a new home asks GitHub for a list of plugins, which is not needed here.
    officialMarketplaceAutoInstallAttempted: true,
    officialMarketplaceAutoInstallFailReason: 'policy_blocked',
    projects: Object.fromEntries(projects),
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
