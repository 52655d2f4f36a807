// Pure.
import { BridgeError } from '../../base/errors.js';

/** Longer than any line that a caller searches for. Parsing a pattern may take time quadratic in its length. */
const MAX_PATTERN_CHARS = 4_000;

export interface SearchQuery {
  readonly query: string;
  readonly path?: string | undefined;
  readonly regex?: boolean | undefined;
  /** True to search paths instead of contents. */
  readonly names?: boolean | undefined;
  readonly glob?: string | undefined;
  readonly context?: number | undefined;
  readonly cursor?: string | undefined;
  readonly maxBytes?: number | undefined;
  /** Ignored files are searched, too. */
  readonly ignored?: boolean | undefined;
}

/** Throws INVALID_ARGUMENTS for what ripgrep would not refuse, but that cannot be meant. */
export function requireUsable({ query, glob }: SearchQuery): void {
  requireShort('query', query);
  if (query === '' || /[\n\r\0]/.test(query)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      query === ''
        ? 'The query is empty.'
        : 'The query contains a line end or a NUL, but lines are searched one by one.',
      'Search for a text within one line.',
    );
  }
  if (glob === undefined) return;
  requireShort('glob', glob);
  if (!/^!?\s*$|^#|^!!|\/$|[\n\r\0]/.test(glob)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The glob ${JSON.stringify(glob)} cannot match any file.`,
    'Use one such as *.ts, src/**/*.{js,ts} or !*.md; a backslash before a character makes it an ordinary one.',
  );
}

function requireShort(what: 'query' | 'glob', pattern: string): void {
  if (pattern.length <= MAX_PATTERN_CHARS) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The ${what} is ${pattern.length} characters long; at most ${MAX_PATTERN_CHARS} are allowed.`,
    'Use a shorter one.',
  );
}
