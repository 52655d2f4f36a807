import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  scriptedClaudeEnvironment,
  writeClaudeHome,
  type ClaudeHomeOptions,
} from '../../src/cli/demo/claude-home.js';

export interface ClaudeHome {
  readonly homeDir: string;
  /** The clean environment for the CLI, built from nothing. */
  readonly env: Record<string, string>;
  dispose(): Promise<void>;
}

/** A home directory of its own for the real CLI, ready for the scripted API at `apiUrl`. */
export async function createClaudeHome(
  options: ClaudeHomeOptions & { readonly apiUrl: string; readonly withKey?: boolean },
): Promise<ClaudeHome> {
  const homeDir = await realpath(await mkdtemp(join(tmpdir(), 'bridge-home-')));
  await writeClaudeHome(homeDir, options);
  const env = scriptedClaudeEnvironment({
    homeDir,
    apiUrl: options.apiUrl,
    path: process.env['PATH'] ?? '/usr/bin:/bin',
  });
  if (options.withKey === false) delete env['ANTHROPIC_API_KEY'];
  return { homeDir, env, dispose: () => rm(homeDir, { recursive: true, force: true, maxRetries: 5 }) };
}
