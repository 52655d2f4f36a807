import { compareKeys, orderKey, type OrderedName, type OrderKey } from './list-order.js';

/** Put in order at first, which is enough for a page of the usual size with names of the usual length. */
export const FIRST_PART = 360;
/** Put in order then, for short names; whoever wants more wants all. */
const SECOND_PART = 1_000;
/** Entries whose order tells where those lie that are wanted. */
const SAMPLE = 400;
/** So many times what is wanted is looked for, since a sample tells no more than roughly. */
const RESERVE = 1.4;

/** The entries of a folder, put in order only as far as they are asked for: a page shows a few hundred of any number. */
export class OrderedEntries<Entry extends OrderedName> {
  /** All of them, in no order. */
  readonly unordered: readonly Entry[];
  /** In order, from index `#start` on. */
  #ordered: OrderKey<Entry>[] = [];
  #start = 0;
  #from: OrderKey<OrderedName> | undefined;

  constructor(entries: readonly Entry[]) {
    this.unordered = entries;
  }

  get length(): number {
    return this.unordered.length;
  }

  /** The index of the first entry that does not come before `wanted`. What lies before it cannot be asked for any more. */
  startFrom(wanted: OrderedName): number {
    this.#from = orderKey(wanted);
    this.#ordered = [];
    this.#start = 0;
    for (const entry of this.unordered) if (compareKeys(orderKey(entry), this.#from) < 0) this.#start++;
    return this.#start;
  }

  /** The entry at `index` in order. */
  at(index: number): Entry | undefined {
    if (index >= this.#start + this.#ordered.length) this.#orderMore();
    return this.#ordered[index - this.#start]?.entry;
  }

  #orderMore(): void {
    if (this.#start + this.#ordered.length >= this.length) return;
    const count = [FIRST_PART, SECOND_PART].find((part) => part > this.#ordered.length) ?? this.length;
    this.#ordered = least(this.unordered, this.#from, count);
  }
}

/** The first `count` from `from` on, in order, without a look at the order of the others; nothing is kept of those. */
function least<Entry extends OrderedName>(
  entries: readonly Entry[],
  from: OrderKey<OrderedName> | undefined,
  count: number,
): OrderKey<Entry>[] {
  const bound = entries.length > 2 * count ? guessedBound(entries, from, count) : undefined;
  const part = between(entries, from, bound);
  const keys = part.length < count && bound !== undefined ? between(entries, from, undefined) : part;
  return keys.sort(compareKeys).slice(0, count);
}

/** By a sample: an entry with probably a little more than `count` from `from` on before it. */
function guessedBound<Entry extends OrderedName>(
  entries: readonly Entry[],
  from: OrderKey<OrderedName> | undefined,
  count: number,
): OrderKey<Entry> | undefined {
  const step = Math.ceil(entries.length / SAMPLE);
  const every: Entry[] = [];
  for (let index = 0; index < entries.length; index += step) {
    const entry = entries[index];
    if (entry !== undefined) every.push(entry);
  }
  const sample = between(every, from, undefined);
  // What is behind the end of the sample bounds nothing.
  return sample.sort(compareKeys)[Math.ceil((count * RESERVE) / step)];
}

function between<Entry extends OrderedName>(
  entries: readonly Entry[],
  from: OrderKey<OrderedName> | undefined,
  bound: OrderKey<OrderedName> | undefined,
): OrderKey<Entry>[] {
  const part: OrderKey<Entry>[] = [];
  for (const entry of entries) {
    const lower = entry.name.toLowerCase();
    // Most of a large folder ends here: nothing is made for it.
    if (bound !== undefined && isBehind(entry, lower, bound)) continue;
    const key = { entry, lower };
    if (from === undefined || compareKeys(key, from) >= 0) part.push(key);
  }
  return part;
}

/** True when it surely comes after `bound`; names that differ by case alone are left to the full order. */
function isBehind(entry: OrderedName, lower: string, bound: OrderKey<OrderedName>): boolean {
  if (entry.isFolder !== bound.entry.isFolder) return bound.entry.isFolder;
  return lower > bound.lower;
}
