// Pure: the order of every listing, without a locale, so that a cursor means the same everywhere.

/** A name in a folder, as far as the order needs to know it. */
export interface OrderedName {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Folders first, then by name without regard to case, then exactly. */
export function compareNames(one: OrderedName, other: OrderedName): number {
  if (one.isFolder !== other.isFolder) return one.isFolder ? -1 : 1;
  const lower = compareText(one.name.toLowerCase(), other.name.toLowerCase());
  return lower === 0 ? compareText(one.name, other.name) : lower;
}

/** By UTF-16 units. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The names in order; each is lowered once, which a comparison alone would do again and again. */
export function inOrder<Entry extends OrderedName>(entries: readonly Entry[]): Entry[] {
  const keyed = entries.map((entry) => ({ entry, lower: entry.name.toLowerCase() }));
  keyed.sort((one, other) => {
    if (one.entry.isFolder !== other.entry.isFolder) return one.entry.isFolder ? -1 : 1;
    return compareText(one.lower, other.lower) || compareText(one.entry.name, other.entry.name);
  });
  return keyed.map(({ entry }) => entry);
}

/** Names that begin with a dot are not shown, but for Claude Code's own folder. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.claude';
}
