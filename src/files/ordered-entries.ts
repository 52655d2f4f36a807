import { compareKeys, orderKey, type OrderedName, type OrderKey } from './list-order.js';
import { namesInOrder } from './names-in-order.js';

/** Put in order at first, which is enough for a page of the usual size with names of the usual length. */
export const FIRST_PART = 360;
/** So many times the first part is put in order then, for short names; whoever wants more wants all. */
const SECOND_PARTS = 3;
/** Entries whose order tells where those lie that are wanted. */
const SAMPLE = 400;
/** So many times what is wanted is looked for, since a sample tells no more than roughly. */
const RESERVE = 1.4;

/** The entries of a folder, put in order only as far as they are asked for: a page shows a few hundred of any number. */
export class OrderedEntries<Entry extends OrderedName> {
  /** All of them, in any order. */
  readonly unordered: readonly Entry[];
  /** Those from index `#start` on, in any order. */
  #rest: readonly Entry[];
  /** In order, from index `#start` on. */
  #ordered: readonly Entry[] = [];
  #start = 0;
  #firstPart = FIRST_PART;
  readonly #isOrdered: boolean;

  constructor(entries: readonly Entry[], isOrdered = false) {
    this.unordered = entries;
    this.#rest = entries;
    this.#isOrdered = isOrdered;
    if (isOrdered) this.#ordered = entries;
  }

  get length(): number {
    return this.unordered.length;
  }

  /** Probably so many will be asked for: all of them are put in order together. */
  expect(count: number): void {
    this.#firstPart = Math.max(count, 1);
  }

  /** The index of the first entry that does not come before `wanted`. What lies before it cannot be asked for any more. */
  startFrom(wanted: OrderedName): number {
    const from = orderKey(wanted);
    if (this.#isOrdered) return firstFrom(this.unordered, from);
    this.#rest = this.unordered.filter((entry) => compareKeys(orderKey(entry), from) >= 0);
    this.#ordered = [];
    this.#start = this.length - this.#rest.length;
    return this.#start;
  }

  /** The entry at `index` in order. */
  at(index: number): Entry | undefined {
    if (index >= this.#start + this.#ordered.length) this.#orderMore();
    return this.#ordered[index - this.#start];
  }

  #orderMore(): void {
    const known = this.#ordered.length;
    if (known >= this.#rest.length) return;
    const part = [this.#firstPart, this.#firstPart * SECOND_PARTS].find((count) => count > known);
    this.#ordered = least(this.#rest, part ?? this.#rest.length);
  }
}

/** In what is in order: the index of the first entry that does not come before `from`. */
function firstFrom(ordered: readonly OrderedName[], from: OrderKey<OrderedName>): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = ordered[middle];
    if (entry !== undefined && compareKeys(orderKey(entry), from) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first `count` in order, without a look at the order of the others; nothing is kept of those. */
function least<Entry extends OrderedName>(entries: readonly Entry[], count: number): Entry[] {
  const bound = entries.length > 2 * count ? guessedBound(entries, count) : undefined;
  const part = bound === undefined ? entries : before(entries, bound);
  return namesInOrder(part.length < count ? entries : part).slice(0, count);
}

/** By a sample: an entry with probably a little more than `count` before it. */
function guessedBound<Entry extends OrderedName>(
  entries: readonly Entry[],
  count: number,
): Entry | undefined {
  const step = Math.ceil(entries.length / SAMPLE);
  const sample: Entry[] = [];
  for (let index = 0; index < entries.length; index += step) {
    const entry = entries[index];
    if (entry !== undefined) sample.push(entry);
  }
  // What is behind the end of the sample bounds nothing.
  return namesInOrder(sample)[Math.ceil((count * RESERVE) / step)];
}

/** Those that do not surely come after `bound`; names that differ by case alone are left to the full order. */
function before<Entry extends OrderedName>(entries: readonly Entry[], bound: OrderedName): Entry[] {
  const lower = bound.name.toLowerCase();
  const part: Entry[] = [];
  for (const entry of entries) {
    const isBehind = entry.isFolder === bound.isFolder ? entry.name.toLowerCase() > lower : bound.isFolder;
    if (!isBehind) part.push(entry);
  }
  return part;
}
