// Pure: one line of a .gitignore, matched in time that grows with pattern times name, whatever the pattern: a regular
// expression made of `*a*a*a*a*b` would take exponential time.

const WILD = /[*?[\\]/;

/** One step of a pattern: a byte, any byte, any bytes, or one byte of a set. */
type Token =
  | { readonly kind: 'byte'; readonly byte: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly has: (byte: number) => boolean };

type Segment = 'globstar' | 'never' | readonly Token[];

export interface IgnorePattern {
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  /** `path` relative to the folder of the ignore file, its last segment `name`. */
  matches(path: string, name: string): boolean;
}

/** Undefined for an empty line or a comment. */
export function ignorePattern(line: string): IgnorePattern | undefined {
  let text = trimmed(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (text === '' || text.startsWith('#')) return undefined;
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  if (text === '') return undefined;
  const hasSlash = text.includes('/');
  if (!hasSlash) {
    const matchName = nameMatcher(text);
    return { isNegated, foldersOnly, matches: (_path, name) => matchName(name) };
  }
  const segments = (text.startsWith('/') ? text.slice(1) : text).split('/').map(segmentOf);
  return { isNegated, foldersOnly, matches: (path) => matchesPath(segments, path.split('/').map(bytesOf)) };
}

/** Without the spaces at the end, but for one that a backslash keeps. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') {
    let slashes = 0;
    while (line[end - 2 - slashes] === '\\') slashes++;
    if (slashes % 2 === 1) break;
    end--;
  }
  return line.slice(0, end);
}

function nameMatcher(pattern: string): (name: string) => boolean {
  if (!WILD.test(pattern)) return (name) => name === pattern;
  const tokens = tokensOf(pattern);
  return tokens === undefined ? () => false : (name) => matchesTokens(tokens, bytesOf(name));
}

function segmentOf(segment: string): Segment {
  // To git, more than two stars are two.
  return /^\*{2,}$/.test(segment) ? 'globstar' : (tokensOf(segment) ?? 'never');
}

/** `**` takes any number of segments, at the end at least one; the last one tried is the only one to go back to. */
function matchesPath(segments: readonly Segment[], path: readonly string[]): boolean {
  let at = 0;
  let backTo = -1;
  let backAt = 0;
  let index = 0;
  while (at < path.length) {
    const segment = segments[index];
    if (segment === 'globstar') {
      if (index === segments.length - 1) return true;
      backTo = ++index;
      backAt = at;
    } else if (segment !== undefined && segment !== 'never' && matchesTokens(segment, path[at] ?? '')) {
      index++;
      at++;
    } else if (backTo >= 0) {
      index = backTo;
      at = ++backAt;
    } else {
      return false;
    }
  }
  return index === segments.length;
}

/** The classic match with one star to go back to: time is length of tokens times length of text. */
function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let at = 0;
  let index = 0;
  let backTo = -1;
  let backAt = 0;
  while (at < text.length) {
    const token = tokens[index];
    if (token?.kind === 'star') {
      backTo = ++index;
      backAt = at;
    } else if (token !== undefined && takes(token, text.charCodeAt(at))) {
      index++;
      at++;
    } else if (backTo >= 0) {
      index = backTo;
      at = ++backAt;
    } else {
      return false;
    }
  }
  while (tokens[index]?.kind === 'star') index++;
  return index === tokens.length;
}

function takes(token: Token, byte: number): boolean {
  if (token.kind === 'byte') return token.byte === byte;
  return token.kind === 'set' ? token.has(byte) : token.kind === 'any';
}

/** As bytes, one a character: `?` takes one byte of a name, as in git. */
function bytesOf(text: string): string {
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text).toString('latin1');
}

/** Undefined for a pattern that matches nothing: a set without end, a backslash at the end. */
function tokensOf(pattern: string): readonly Token[] | undefined {
  const text = bytesOf(pattern);
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (char === '?') {
      tokens.push({ kind: 'any' });
    } else if (char === '[') {
      const set = setAt(text, at + 1);
      if (set === undefined) return undefined;
      tokens.push({ kind: 'set', has: set.has });
      at = set.end;
    } else {
      if (char === '\\') at++;
      if (at >= text.length) return undefined;
      tokens.push({ kind: 'byte', byte: text.charCodeAt(at) });
    }
  }
  return tokens;
}

const namedSets: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,

  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** The set that begins after a `[`, and where its `]` is. */
function setAt(
  text: string,
  start: number,
): { readonly has: (byte: number) => boolean; readonly end: number } | undefined {
  let at = start;
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at++;
  const ranges: (readonly [number, number])[] = [];
  const named: RegExp[] = [];
  for (let isFirst = true; isFirst || text[at] !== ']'; isFirst = false) {
    if (at >= text.length) return undefined;
    const name = text[at] === '[' && text[at + 1] === ':' ? /^\[:([^\]]*):\]/.exec(text.slice(at)) : null;
    if (name !== null) {
      const set = namedSets[name[1] ?? ''];
      if (set === undefined) return undefined;
      named.push(set);
      at += name[0].length;
      continue;
    }
    const low = literalAt(text, at);
    if (low === undefined) return undefined;
    at = low.next;
    const isRange = text[at] === '-' && at + 1 < text.length && text[at + 1] !== ']';
    const high = isRange ? literalAt(text, at + 1) : low;
    if (high === undefined) return undefined;
    ranges.push([low.byte, high.byte]);
    at = high.next;
  }
  const slash = 0x2f;
  const has = (byte: number): boolean =>
    byte !== slash &&
    isNegated !==
      (ranges.some(([low, high]) => byte >= low && byte <= high) ||
        named.some((set) => set.test(String.fromCharCode(byte))));
  return { has, end: at };
}

function literalAt(text: string, at: number): { readonly byte: number; readonly next: number } | undefined {
  const from = text[at] === '\\' ? at + 1 : at;
  return from < text.length ? { byte: text.charCodeAt(from), next: from + 1 } : undefined;
}
