// Pure: the path patterns of rules, read as `.gitignore` reads them.
import { relative, sep } from 'node:path';
import { ANY_CHARACTER, ANY_TEXT, canMatch, type Token } from './wildcard.js';

export interface PatternPlaces {
  readonly projectPath: string;
  readonly homeDir: string;
}

/** True when the pattern names the absolute path, or a folder above it. */
export type PathPattern = (path: string) => boolean;

/**
 * `//x` begins at the root of the file system, `~/x` at home, `/x`, `./x` and `x/y` in the project; a name alone counts at
 * any depth of the project. `*` and `?` stay within one name, `**` goes through folders.
 */
export function pathPattern(pattern: string, { projectPath, homeDir }: PatternPlaces): PathPattern {
  const { base, rest, isAnchored } = placed(pattern, projectPath, homeDir);
  const names = rest.split('/').filter((name) => name !== '' && name !== '.');
  const steps = isAnchored ? names : ['**', ...names];
  return (path) => {
    const way = relative(base, path);
    if (way === '..' || way.startsWith(`..${sep}`)) return false;
    return holds(steps, way === '' ? [] : way.split(sep));
  };
}

function placed(
  pattern: string,
  projectPath: string,
  homeDir: string,
): { base: string; rest: string; isAnchored: boolean } {
  if (pattern.startsWith('//')) return { base: '/', rest: pattern.slice(2), isAnchored: true };
  if (pattern === '~' || pattern.startsWith('~/'))
    return { base: homeDir, rest: pattern.slice(1), isAnchored: true };
  // A slash before the last character ties a pattern to its folder.
  return {
    base: projectPath,
    rest: pattern,
    isAnchored: pattern.slice(0, -1).includes('/') || pattern === '/',
  };
}

function holds(steps: readonly string[], names: readonly string[]): boolean {
  const tokens = steps.map((step) => (step === '**' ? undefined : nameTokens(step)));
  // reachable[n]: the steps so far can end before name n.
  let reachable = names.map(() => false).concat(false);
  reachable[0] = true;
  for (const [index, step] of tokens.entries()) {
    const next = reachable.map(() => false);
    const isLast = index === tokens.length - 1;
    for (let at = 0; at <= names.length; at++) {
      if (reachable[at] !== true) continue;
      if (step === undefined) {
        // `src/**` is what lies in src, not src itself.
        for (let to = isLast && index > 0 ? at + 1 : at; to <= names.length; to++) next[to] = true;
      } else {
        const name = names[at];
        if (name !== undefined && canMatch(step, [...name])) next[at + 1] = true;
      }
    }
    reachable = next;
  }
  // What lies below a named folder is named with it.
  return reachable.some((is) => is);
}

function nameTokens(step: string): Token[] {
  return [...step].map((char) => (char === '*' ? ANY_TEXT : char === '?' ? ANY_CHARACTER : char));
}
