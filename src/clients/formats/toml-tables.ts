/**
 * The text without the tables `[key.name]` and `[key.name.…]`: each from its header to its last line that is neither empty nor a
 * comment, since a comment behind that belongs to what follows. The caller checks the result: a line that only looks like a
 * header is taken for one.
 */
export function withoutTables(text: string, key: string, name: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let table: string[] | undefined;
  const endTable = (): void => {
    const last = (table ?? []).findLastIndex((line) => !/^\s*(?:#.*\s*)?$/.test(line));
    kept.push(...(table ?? []).slice(last + 1));
    table = undefined;
  };
  for (const line of lines) {
    if (/^\s*\[/.test(line)) {
      endTable();
      if (isHeaderOf(line, key, name)) table = [];
    }
    (table ?? kept).push(line);
  }
  endTable();
  // The empty line that was put before the table.
  while (kept.length > 0 && kept.length < lines.length && kept.at(-1)?.trim() === '') kept.pop();
  return kept.join('');
}

function isHeaderOf(line: string, key: string, name: string): boolean {
  const words = line.replaceAll(/[\s"']/g, '');
  return words.startsWith(`[${key}.${name}]`) || words.startsWith(`[${key}.${name}.`);
}
