import { describe, inject } from 'vitest';
import { usesPs } from './process-table.js';

/**
 * The suite with one pinned version of the real CLI: the newest, and where processes are listed by `ps` the oldest, so that both
 * are tested. CLAUDE_VERSIONS=all runs it with all of them. A version that could not be fetched is left out, by name; with
 * CI=true the global set-up has failed before.
 */
export function describeRealClaude(
  name: string,
  suite: (claude: { version: string; binary: string }) => void,
): void {
  const versions = inject('claudeVersions');
  const one = usesPs() ? versions.slice(0, 1) : versions.slice(-1);
  for (const { version, binary } of process.env['CLAUDE_VERSIONS'] === 'all' ? versions : one) {
    if (binary === undefined)
      describe.skip(`${name} (Claude Code ${version} could not be fetched)`, () => {});
    else describe(`${name} (Claude Code ${version})`, () => suite({ version, binary }));
  }
}

/** The drivers that work with that version. */
export function driversFor(version: string): readonly ('interactive' | 'print' | 'background')[] {
  const hasBackground = version !== '2.1.197' && process.env['SOAK'] === '1';
  return hasBackground ? ['interactive', 'print', 'background'] : ['interactive', 'print'];
}

/**
 * The suite with the newest pinned version alone: for what the bridge does with a session once it is there, which the suites
 * of both versions have shown to be the same.
 */
export function describeNewestClaude(
  name: string,
  suite: (claude: { version: string; binary: string }) => void,
): void {
  const newest = inject('claudeVersions').at(-1);
  if (newest === undefined) throw new Error('no version of Claude Code is pinned');
  const { version, binary } = newest;
  if (binary === undefined) describe.skip(`${name} (Claude Code ${version} could not be fetched)`, () => {});
  else describe(`${name} (Claude Code ${version})`, () => suite({ version, binary }));
}
