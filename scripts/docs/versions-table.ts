// Pure: the tested versions of Claude Code → their table in the guide.
import { testedVersions } from '../../src/claude/tested-versions.js';

/** One row a version, newest first. */
export function versionsTable(): string {
  const rows = testedVersions
    .map(({ version, ran, differs }) => `| ${version} | ${ran} | ${differs} |`)
    .reverse();
  return ['| Version | What was run | What differs |', '| --- | --- | --- |', ...rows].join('\n');
}
