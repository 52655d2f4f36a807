import { describe, inject } from 'vitest';

/**
 * The suite once for each pinned version of the real CLI. A version that could not be fetched is left out, by name;
 * with CI=true the global set-up has failed before.
 */
export function describeRealClaude(
  name: string,
  suite: (claude: { version: string; binary: string }) => void,
): void {
  for (const { version, binary } of inject('claudeVersions')) {
    if (binary === undefined)
      describe.skip(`${name} (Claude Code ${version} could not be fetched)`, () => {});
    else describe(`${name} (Claude Code ${version})`, () => suite({ version, binary }));
  }
}
