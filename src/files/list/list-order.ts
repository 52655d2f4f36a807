// Pure: the order of all listings. It does not depend on the locale, so a cursor means the same everywhere.

/** The parts of an entry that determine its order. */
export interface OrderedName {
  readonly name: string;
  /** The name in lower case. */
  readonly lower: string;
  readonly isFolder: boolean;
}

/** Folders first, then by name ignoring case, then by exact name. */
export function compareNames(one: OrderedName, other: OrderedName): number {
  if (one.isFolder !== other.isFolder) return one.isFolder ? -1 : 1;
  if (one.lower !== other.lower) return one.lower < other.lower ? -1 : 1;
  return compareText(one.name, other.name);
}

/** Compares by UTF-16 units. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Listings do not show names that begin with a dot, except Claude Code's own folder. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.claude';
}
