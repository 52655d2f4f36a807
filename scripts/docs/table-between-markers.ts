// Pure: a generated table → its place in a page that is otherwise written by hand.

/** The page with the table between its two markers renewed. Throws when the page has no such markers. */
export function withTable(page: string, name: string, table: string): string {
  const begin = new RegExp(`<!-- ${name}: generated from .+ by \`npm run docs\` -->`).exec(page)?.[0];
  const end = `<!-- end of ${name} -->`;
  const [before, rest] = begin === undefined ? [] : page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`The page has no markers of the table "${name}".`);
  return `${before}${begin}\n\n${table.trim()}\n\n${end}${after}`;
}
