import { messageOf } from '../base/errors.js';

/** Texts in which a pattern that can match nothing at all (an anchor, a word border, a star) finds an empty match. */
const PROBES = ['', 'a', ' a b\n'];

/**
 * For each pattern what it should have been, or undefined for a usable one: RE2 must compile it (its matching takes linear
 * time), and it must not match the empty string, which is on every screen. Loads RE2 only when there is a pattern to check.
 */
export async function patternErrors(patterns: readonly string[]): Promise<readonly (string | undefined)[]> {
  if (patterns.length === 0) return [];
  // 15 ms that a server with the default patterns does not pay at its start.
  const { RE2JS, RE2JSException } = await import('re2js');
  return patterns.map((pattern) => {
    try {
      const compiled = RE2JS.compile(pattern);
      for (const probe of PROBES) {
        const matcher = compiled.matcher(probe);
        while (matcher.find()) {
          if (matcher.start() === matcher.end())
            return 'a regular expression that does not match the empty string';
        }
      }
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof RE2JSException)) throw thrown;
      return `a regular expression in RE2 syntax (${messageOf(thrown)})`;
    }
  });
}
