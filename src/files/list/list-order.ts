// Pure: the order of every listing, without a locale, so that a cursor means the same everywhere.

/** A name in a folder, as far as the order needs to know it. */
export interface OrderedName {
  readonly name: string;
  /** The name in lower case. */
  readonly lower: string;
  readonly isFolder: boolean;
}

/** Folders first, then by name without regard to case, then exactly. */
export function compareNames(one: OrderedName, other: OrderedName): number {
  if (one.isFolder !== other.isFolder) return one.isFolder ? -1 : 1;
  if (one.lower !== other.lower) return one.lower < other.lower ? -1 : 1;
  return compareText(one.name, other.name);
}

/** By UTF-16 units. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Listings do not show names that begin with a dot, except Claude Code's own folder. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') && name !== '.claude';
}
