// Pure: the path patterns of rules, in the syntax of `.gitignore`.
import { relative, sep } from 'node:path';
import { ANY_CHARACTER, ANY_TEXT, canMatch, type Token } from './wildcard.js';

export interface PatternBases {
  readonly projectPath: string;
  readonly homeDir: string;
}

/** True when the pattern matches the absolute path or a folder above it. */
export type PathPattern = (path: string) => boolean;

/**
 * `//x` starts at the root of the file system, `~/x` in the home folder, `/x`, `./x` and `x/y` in the project. A name without
 * slashes matches at any depth of the project. `*` and `?` match within one name, `**` matches any number of folders.
 */
export function pathPattern(pattern: string, { projectPath, homeDir }: PatternBases): PathPattern {
  const { base, rest, isAnchored } = anchored(pattern, projectPath, homeDir);
  const names = rest.split('/').filter((name) => name !== '' && name !== '.');
  const steps = isAnchored ? names : ['**', ...names];
  return (path) => {
    const below = relative(base, path);
    if (below === '..' || below.startsWith(`..${sep}`)) return false;
    return matches(steps, below === '' ? [] : below.split(sep));
  };
}

function anchored(
  pattern: string,
  projectPath: string,
  homeDir: string,
): { base: string; rest: string; isAnchored: boolean } {
  if (pattern.startsWith('//')) return { base: '/', rest: pattern.slice(2), isAnchored: true };
  if (pattern === '~' || pattern.startsWith('~/'))
    return { base: homeDir, rest: pattern.slice(1), isAnchored: true };
  // A slash before the last character anchors a pattern to its folder.
  return {
    base: projectPath,
    rest: pattern,
    isAnchored: pattern.slice(0, -1).includes('/') || pattern === '/',
  };
}

function matches(steps: readonly string[], names: readonly string[]): boolean {
  const tokens = steps.map((step) => (step === '**' ? undefined : nameTokens(step)));
  // reachable[n]: the steps so far can match exactly the first n names.
  let reachable = names.map(() => false).concat(false);
  reachable[0] = true;
  for (const [index, step] of tokens.entries()) {
    const next = reachable.map(() => false);
    const isLast = index === tokens.length - 1;
    for (let at = 0; at <= names.length; at++) {
      if (reachable[at] !== true) continue;
      if (step === undefined) {
        // `src/**` matches everything in src, but not src itself.
        for (let to = isLast && index > 0 ? at + 1 : at; to <= names.length; to++) next[to] = true;
      } else {
        const name = names[at];
        if (name !== undefined && canMatch(step, [...name])) next[at + 1] = true;
      }
    }
    reachable = next;
  }
  // A match of a parent folder is enough.
  return reachable.some((is) => is);
}

function nameTokens(step: string): Token[] {
  return [...step].map((char) => (char === '*' ? ANY_TEXT : char === '?' ? ANY_CHARACTER : char));
}
