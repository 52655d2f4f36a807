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

/** A name, lowered once: a comparison alone would do that again and again. */
export interface OrderKey<Entry extends OrderedName> {
  readonly entry: Entry;
  readonly lower: string;
}

export function orderKey<Entry extends OrderedName>(entry: Entry): OrderKey<Entry> {
  return { entry, lower: entry.name.toLowerCase() };
}

/** As `compareNames`. */
export function compareKeys(one: OrderKey<OrderedName>, other: OrderKey<OrderedName>): number {
  if (one.entry.isFolder !== other.entry.isFolder) return one.entry.isFolder ? -1 : 1;
  if (one.lower !== other.lower) return one.lower < other.lower ? -1 : 1;
  return compareText(one.entry.name, other.entry.name);
}

/** Names that begin with a dot are not shown, but for Claude Code's own folder. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.claude';
}
