import { describe, inject } from 'vitest';

type Suite = (claude: { version: string; binary: string }) => void;

/**
 * The suite with the real Claude Code: the newest pinned version, in the long form also the others or the registry's newest (see
 * CLAUDE_VERSIONS in find-needs.ts). A version that has not been fetched is left out, and the run names that at its end.
 */
export function describeRealClaude(name: string, suite: Suite): void {
  for (const { version, binary } of inject('claudeVersions')) describeClaude(name, version, binary, suite);
}

export const drivers = ['interactive', 'print'] as const;

/** The suite with the newest of these versions alone. */
export function describeNewestClaude(name: string, suite: Suite): void {
  const newest = inject('claudeVersions').at(-1);
  if (newest === undefined) throw new Error('no version of Claude Code is pinned');
  describeClaude(name, newest.version, newest.binary, suite);
}

function describeClaude(name: string, version: string, binary: string | undefined, suite: Suite): void {
  if (binary === undefined) describe.skip(`${name} (Claude Code ${version} is not here)`, () => {});
  else describe(`${name} (Claude Code ${version})`, () => suite({ version, binary }));
}
