// Pure: many names put in order. Asking a function about each pair would take ten times as long.
import { compareKeys, orderKey, type OrderedName } from './list-order.js';

/** With fewer, such as those of a usual page, the preparation is no less than the work. */
const WORTH_PREPARING = 1_000;
/** What a name weighs: this many of its characters, of these values each; the last one is for all that are higher, too. */
const WEIGHED_CHARS = 4;
const LAST_VALUE = 255;
/** A weight and an index make one number that is exact; more entries than this would not fit into it. */
const MAX_INDEX = 2 ** 21;

/** `entries` in the order of `compareNames`. */
export function namesInOrder<Entry extends OrderedName>(entries: readonly Entry[]): Entry[] {
  if (entries.length < WORTH_PREPARING) return compared(entries);
  const folders = entries.filter(({ isFolder }) => isFolder);
  if (folders.length === 0) return oneKind(entries);
  return [...oneKind(folders), ...oneKind(entries.filter(({ isFolder }) => !isFolder))];
}

function oneKind<Entry extends OrderedName>(entries: readonly Entry[]): Entry[] {
  if (entries.length < WORTH_PREPARING || entries.length > MAX_INDEX) return compared(entries);
  const places = orderOfWeights(entries.map(({ name }) => name.toLowerCase()));
  const ordered: Entry[] = [];
  let weight = -1;
  let sameFrom = 0;
  for (const place of places) {
    const index = place % MAX_INDEX;
    const entry = entries[index];
    if (entry === undefined) continue;
    const next = (place - index) / MAX_INDEX;
    if (next !== weight) {
      compareFrom(ordered, sameFrom);
      sameFrom = ordered.length;
      weight = next;
    }
    ordered.push(entry);
  }
  compareFrom(ordered, sameFrom);
  return ordered;
}

/** Puts what is at `from` and behind it in order. */
function compareFrom<Entry extends OrderedName>(ordered: Entry[], from: number): void {
  if (ordered.length - from < 2) return;
  for (const entry of compared(ordered.splice(from))) ordered.push(entry);
}

/** For each name its weight and its index, in order. Names of one weight are in no order yet. */
function orderOfWeights(lowers: readonly string[]): Float64Array {
  const start = sharedStart(lowers);
  const places = new Float64Array(lowers.length);
  for (let index = 0; index < lowers.length; index++) {
    places[index] = weightOf(lowers[index] ?? '', start) * MAX_INDEX + index;
  }
  return places.sort();
}

/** Of the characters from `start` on, never in another order than they are. What comes behind one that has no value of its own is nothing. */
function weightOf(name: string, start: number): number {
  let weight = 0;
  let isExact = true;
  for (let at = start; at < start + WEIGHED_CHARS; at++) {
    const code: number = isExact && at < name.length ? name.charCodeAt(at) : 0;
    isExact = isExact && code < LAST_VALUE;
    weight = weight * (LAST_VALUE + 1) + Math.min(code, LAST_VALUE);
  }
  return weight;
}

/** How many characters all names begin with. */
function sharedStart(names: readonly string[]): number {
  const first = names[0] ?? '';
  let shared = first.length;
  for (const name of names) {
    let same = 0;
    while (same < shared && same < name.length && name.charCodeAt(same) === first.charCodeAt(same)) same++;
    shared = same;
    if (shared === 0) break;
  }
  return shared;
}

function compared<Entry extends OrderedName>(entries: readonly Entry[]): Entry[] {
  return entries
    .map(orderKey)
    .sort(compareKeys)
    .map(({ entry }) => entry);
}
