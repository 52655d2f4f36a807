import { join } from 'node:path';
import { CLAUDE_VERSIONS, findOrFetchClaude } from '../../src/cli/demo/fetch-claude.js';
import { messageOf } from '../../src/base/errors.js';

export interface FetchedClaude {
  readonly version: string;
  /** Undefined when the version is not there and could not be fetched. */
  readonly binary: string | undefined;
}

declare module 'vitest' {
  export interface ProvidedContext {
    claudeVersions: readonly FetchedClaude[];
  }
}

interface Provider {
  provide(key: 'claudeVersions', value: readonly FetchedClaude[]): void;
}

/** Vitest's global set-up: both pinned versions of the real CLI, in an ignored cache of this project. */
export async function setup(project: Provider): Promise<void> {
  const fetched = CLAUDE_VERSIONS.map(async (version) => ({ version, binary: await fetchOne(version) }));
  project.provide('claudeVersions', await Promise.all(fetched));
}

async function fetchOne(version: string): Promise<string | undefined> {
  try {
    return await findOrFetchClaude({
      version,
      cacheDir: join(import.meta.dirname, '..', '..', '.cache', 'claude'),
      env: process.env,
      log: say,
    });
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    say(`WITHOUT Claude Code ${version}: ${messageOf(error)} The tests of the real CLI are left out.`);
    return undefined;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
