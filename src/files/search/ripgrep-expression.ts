// Pure: converts a regular expression from the syntax of RE2 to that of ripgrep.

/** The meaning of `\b` and others in RE2, which is ASCII only. */
const EQUIVALENT: Readonly<Record<string, string>> = {
  b: '(?-u:\\b)',
  w: '[0-9A-Za-z_]',
  W: '[^0-9A-Za-z_]',
  d: '[0-9]',
  D: '[^0-9]',
  s: '[\\t\\n\\f\\r ]',
  S: '[^\\t\\n\\f\\r ]',
  t: '\\t',
};
/** The same within a character set. */
const EQUIVALENT_IN_SET: Readonly<Record<string, string>> = {
  w: '0-9A-Za-z_',
  d: '0-9',
  s: '\\t\\n\\f\\r ',
  t: '\\t',
};

/** The equivalent expression for ripgrep; undefined when there is no safe equivalent. */
export function ripgrepExpression(query: string): string | undefined {
  let expression = '';
  let isInSet = false;
  for (let at = 0; at < query.length; at++) {
    const char = query[at] ?? '';
    if (char === '\\') {
      const next = query[++at] ?? '';
      const equivalent = (isInSet ? EQUIVALENT_IN_SET : EQUIVALENT)[next];
      if (equivalent === undefined && !/[^0-9A-Za-z]/.test(next)) return undefined;
      expression += equivalent ?? `\\${next}`;
    } else if (isInSet && (char === '[' || ('&-~'.includes(char) && query[at + 1] === char))) {
      return undefined;
    } else if (char === '{' && query[at + 1] === ',') {
      // RE2 reads `{,` literally, newer versions of ripgrep as a repetition.
      return undefined;
    } else if (!isInSet && char === '[') {
      isInSet = true;
      expression += char;
      if (query[at + 1] === '^') expression += query[++at];
      // Here the bracket would be a member of the set.
      if (query[at + 1] === ']') return undefined;
    } else {
      if (char === ']') isInSet = false;
      expression += char;
    }
  }
  return expression;
}
