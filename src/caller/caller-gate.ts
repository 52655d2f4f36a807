// Pure: which clients can be given a notice.

/** What a client calls itself in its first message. */
export interface CallerClient {
  readonly name: string;
  readonly version: string;
}

const CLAUDE_CODE = 'claude-code';
/** The oldest version with which both ways are tested. */
const TESTED = [2, 1, 330] as const;

/** Why a client gets no notices; undefined for a Claude Code that is tested, and for a newer one. */
export function gateFault({ name, version }: CallerClient): string | undefined {
  if (name !== CLAUDE_CODE) return 'the client is not Claude Code';
  if (isAtLeast(version, TESTED)) return undefined;
  return `Claude Code is older than ${TESTED.join('.')}, or does not say its version`;
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?![\d.])/.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return false;
  const differing = parts.findIndex((part, index) => part !== least[index]);
  return differing === -1 || (parts[differing] ?? 0) > (least[differing] ?? 0);
}
