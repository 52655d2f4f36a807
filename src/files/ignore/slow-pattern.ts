// Pure: which patterns of an ignore file are left out.

/** Longer than any pattern that a person writes. */
const MAX_PATTERN_CHARS = 1_000;
/** With two, a name of 255 characters takes some 65,000 steps; each further one takes 255 times as many. */
const MAX_CHOICES = 2;

/**
 * True for a pattern whose regular expression could take time that grows with a high power of the length of a name. A star
 * that is followed by another one in its segment can end anywhere; so can each `**` but one at the end.
 */
export function isSlowPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN_CHARS) return true;
  const segments = pattern.replace(/^!?\/?/, '').split('/');
  let choices = 0;
  for (const [index, segment] of segments.entries()) {
    if (/^\*{2,}$/.test(segment)) choices += index === segments.length - 1 ? 0 : 1;
    else choices += Math.max(0, starsIn(segment) - 1);
  }
  return choices > MAX_CHOICES;
}

/** Runs of stars that no backslash escapes. */
function starsIn(segment: string): number {
  return segment.replaceAll(/\\./g, '').match(/\*+/g)?.length ?? 0;
}
