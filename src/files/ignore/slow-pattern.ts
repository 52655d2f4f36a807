// Pure: recognizes ignore patterns that could take too long to match.

/** Longer than any pattern that a person writes. */
const MAX_PATTERN_CHARS = 1_000;
/** With two, a name of 255 characters takes about 65,000 steps; each further one multiplies that by 255. */
const MAX_WILDCARDS = 2;

/**
 * True for a pattern whose regular expression may take polynomial time of a high degree in the length of a name. A star that
 * another one follows in its segment can match up to any position; so can each `**` except the last segment.
 */
export function isSlowPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARS) return true;
  const segments = pattern.replace(/^!?\/?/, '').split('/');
  let wildcards = 0;
  for (const [index, segment] of segments.entries()) {
    if (/^\*{2,}$/.test(segment)) wildcards += index === segments.length - 1 ? 0 : 1;
    else wildcards += Math.max(0, starsIn(segment) - 1);
  }
  return wildcards > MAX_WILDCARDS;
}

/** Counts runs of unescaped stars. */
function starsIn(segment: string): number {
  return segment.replaceAll(/\\./g, '').match(/\*+/g)?.length ?? 0;
}
