// Pure: a regular expression of RE2 in the syntax of ripgrep.

/** What RE2 means by `\b` and the like: ASCII alone. */
const SAME: Readonly<Record<string, string>> = {
  b: '(?-u:\\b)',
  w: '[0-9A-Za-z_]',
  W: '[^0-9A-Za-z_]',
  d: '[0-9]',
  D: '[^0-9]',
  s: '[\\t\\n\\f\\r ]',
  S: '[^\\t\\n\\f\\r ]',
  t: '\\t',
};
/** The same within a set. */
const SAME_IN_SET: Readonly<Record<string, string>> = {
  w: '0-9A-Za-z_',
  d: '0-9',
  s: '\\t\\n\\f\\r ',
  t: '\\t',
};

/** The expression that means the same to ripgrep; undefined where there is none that is sure to. */
export function ripgrepExpression(query: string): string | undefined {
  let expression = '';
  let isInSet = false;
  for (let at = 0; at < query.length; at++) {
    const char = query[at] ?? '';
    if (char === '\\') {
      const next = query[++at] ?? '';
      const same = (isInSet ? SAME_IN_SET : SAME)[next];
      if (same === undefined && !/[^0-9A-Za-z]/.test(next)) return undefined;
      expression += same ?? `\\${next}`;
    } else if (isInSet && (char === '[' || ('&-~'.includes(char) && query[at + 1] === char))) {
      return undefined;
    } else if (char === '{' && query[at + 1] === ',') {
      // To RE2 these are characters, to newer versions of ripgrep a repetition.
      return undefined;
    } else if (!isInSet && char === '[') {
      isInSet = true;
      expression += char;
      if (query[at + 1] === '^') expression += query[++at];
      // A bracket that comes first is a member of the set.
      if (query[at + 1] === ']') return undefined;
    } else {
      if (char === ']') isInSet = false;
      expression += char;
    }
  }
  return expression;
}
