// Pure: facts of this package.
import packageFile from '../../package.json' with { type: 'json' };

/** This package's version, as the protocol, the commands and the receipts name it. */
export const VERSION: string = packageFile.version;
/** The oldest Node that runs this package, such as `20.12.0`. */
export const OLDEST_NODE: string = packageFile.engines.node.replace('>=', '');

/** The pages that clients show inside a chat: their URIs, and the files of the build. */
export const appPages = {
  board: { uri: 'ui://claude-code-bridge/board.html', file: 'board-app.html' },
  decision: { uri: 'ui://claude-code-bridge/decision.html', file: 'decision-app.html' },
} as const;

/** True when `one` came before `other`: versions of one program, such as `0.9.0` and `0.10.0`. A collator that a start makes costs 8 MB. */
export function isOlderVersion(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}
