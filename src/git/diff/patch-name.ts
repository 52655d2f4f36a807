// Pure: parses the file name in the header of a patch.

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};
const NEW_FILE = '+++ b/'.length;
const OLD_FILE = '--- a/'.length;

/** The name in the lines above the first hunk, as bytes; undefined when they contain none. Prefixes are `a/` and `b/`. */
export function patchName(lines: readonly string[]): Buffer | undefined {
  const starting = (start: string): string | undefined =>
    lines.find((line) => line.startsWith(start))?.slice(start.length);
  const renamed = starting('rename to ') ?? starting('copy to ');
  if (renamed !== undefined) return unquoted(renamed);
  for (const [start, prefix] of [
    ['+++ ', NEW_FILE - '+++ '.length],
    ['--- ', OLD_FILE - '--- '.length],
  ] as const) {
    const name = starting(start);
    // A tab follows a name with spaces.
    if (name !== undefined && name !== '/dev/null') return unquoted(name.replace(/\t$/, '')).subarray(prefix);
  }
  const first = lines[0] ?? '';
  const combined = /^diff --(?:cc|combined) (.*)$/s.exec(first)?.[1];
  if (combined !== undefined) return unquoted(combined);
  return nameOfBoth(first.slice('diff --git '.length));
}

/** The name in `a/x b/x` without a rename: both halves are the same. */
function nameOfBoth(names: string): Buffer | undefined {
  const half = (names.length - 1) / 2;
  const old = names.slice(0, half);
  const now = names.slice(half + 1);
  if (names[half] !== ' ') return undefined;
  const [oldName, newName] = [unquoted(old).subarray(2), unquoted(now).subarray(2)];
  return oldName.equals(newName) ? newName : undefined;
}

/** Decodes a name that git may have quoted, with octal escapes. The text has one byte per character. */
export function unquoted(name: string): Buffer {
  if (!name.startsWith('"') || !name.endsWith('"')) return Buffer.from(name, 'latin1');
  const bytes: number[] = [];
  for (const [, octal, letter, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\])/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(ESCAPES[letter] ?? letter.charCodeAt(0));
    else bytes.push((plain ?? '').charCodeAt(0));
  }
  return Buffer.from(bytes);
}
