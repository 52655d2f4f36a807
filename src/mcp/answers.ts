// Pure: answers as they are sent: JSON objects, the text that says the same, and how large they may be.
import { escapedUnsafe, hasUnsafe, quotedLines } from '../base/text.js';

export type JsonObject = { readonly [key: string]: unknown };

/** True for a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What an answer holds at most unless its caller asked for more. */
export const REPLY_BUDGET_BYTES = 16_384;
/** A page of a text, of which a caller wants much at once: clients cut answers above some 40,000 characters. */
export const TEXT_PAGE_BYTES = 32_768;
/** No answer is larger: clients close the connection at 10 MiB, and truncate far earlier. */
export const MAX_REPLY_BYTES = 1_000_000;
/** Part of an answer that is not its text: names, cursors, annotations, the frame of the protocol. */
const FRAME_BYTES = 40_000;
/** The text of an answer travels twice: readable, and inside the structured form. */
const MAX_TEXT_BYTES = (MAX_REPLY_BYTES - FRAME_BYTES) / 2;
/** Halving takes eleven from the largest page to the smallest one. */
const MAX_TRIES = 12;

/** Size of a value on the wire. */
export function wireBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A body of this length is most of its answer. */
const LONG_CHARS = 16_384;
/** The last long text, and its JSON without quotes: an answer needs that for its size, and twice on the wire. */
let encoded: { readonly text: string; readonly json: Buffer } | undefined;

function jsonOf(text: string): Buffer {
  if (encoded?.text !== text) encoded = { text, json: Buffer.from(JSON.stringify(text)).subarray(1, -1) };
  return encoded.json;
}

/** The JSON of a message or a result, in pieces. A long body, which is at the end of the text and in the data, is encoded once. */
export function wireJson(message: object): readonly Buffer[] {
  const result = 'result' in message ? message.result : message;
  const { structuredContent: data, content }: JsonObject = isObject(result) ? result : {};
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  const text = isObject(first) ? first['text'] : undefined;
  const body = isObject(data) ? Object.entries(data).find(isLongBody)?.[1] : undefined;
  if (typeof text !== 'string' || typeof body !== 'string' || text.slice(-body.length) !== body)
    return [Buffer.from(JSON.stringify(message))];
  // The module itself costs each start 2 ms.
  const mark = crypto.randomUUID();
  const marked = text.slice(0, -body.length) + mark;
  const frame = JSON.stringify(message, (_key, value: unknown) =>
    value === body ? mark : value === text ? marked : value,
  );
  const json = jsonOf(body);
  if (message !== result) encoded = undefined;
  return frame.split(mark).flatMap((piece, at) => (at === 0 ? [] : [json]).concat(Buffer.from(piece)));
}

function isLongBody([name, value]: readonly [string, unknown]): boolean {
  return BODIES.has(name) && typeof value === 'string' && value.length >= LONG_CHARS;
}

/** How many of `items`, from the first on, fit into the budget; at least one, so that paging goes on. */
export function fittingCount(items: readonly unknown[], budgetBytes: number = REPLY_BUDGET_BYTES): number {
  let bytes = 0;
  const fitting = items.findIndex((item) => (bytes += wireBytes(item) + 1) > budgetBytes);
  return fitting === -1 ? items.length : Math.max(1, fitting);
}

/** How `fittingPage` reads. */
export interface Paging<Page, Limit extends number | undefined> {
  /** Of the first read; undefined means the reader's own limit. */
  readonly maxBytes: Limit;
  /** No page is made smaller. */
  readonly minBytes: number;
  /** `larger` is the page that did not fit. */
  read(maxBytes: Limit | number, larger: Page | undefined): Promise<Page>;
  text(page: Page): string;
  /** The answer takes so many bytes as it is read, unless its text alone was requested longer; left out, only the limit of a reply counts. */
  readonly whole?: { readonly bytes: number; of(page: Page): JsonObject } | undefined;
}

/** The largest page with which an answer fits: text that grows when it is escaped, or that leaves no room for the facts, is read again, shorter. */
export async function fittingPage<Page, Limit extends number | undefined>(
  paging: Paging<Page, Limit>,
): Promise<Page> {
  const { minBytes, whole } = paging;
  let limit: Limit | number = paging.maxBytes;
  let page: Page | undefined;
  for (let tries = 0; ; tries++) {
    page = await paging.read(limit, page);
    const shown = paging.text(page);
    const bytes = Buffer.byteLength(shown);
    const isSendable = jsonOf(shown).length <= MAX_TEXT_BYTES;
    const isWhole = whole === undefined || bytes > whole.bytes;
    const excess = isWhole ? 0 : Math.max(0, Buffer.byteLength(readable(whole.of(page))) - whole.bytes);
    const shorter = isSendable ? bytes - excess : Math.floor(Math.min(limit ?? Infinity, bytes) / 2);
    if (shorter >= bytes || shorter < minBytes || tries === MAX_TRIES) return page;
    limit = shorter;
  }
}

/**
 * Fields that hold what the caller asked to read: a file, a diff, an output. Such a text is printed last and as it is, so
 * that no fact of the bridge can be forged behind it.
 */
const BODIES: ReadonlySet<string> = new Set(['content', 'diff', 'text', 'tree']);
/** Fields that are mostly empty, and say nothing then. */
const QUIET: ReadonlySet<string> = new Set(['activity', 'left_out']);
/** Whatever a terminal or a model may take for the end of a line. */
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Fields with names of files: one may hold a line break; what it names is on one line all the same. */
const NAME = /(^|_)(path|file|folder|directory|name|from|to|branch|worktree)$/;

/**
 * `name: value` lines; lists with dashes, what belongs together indented. Each line of a text of several lines begins with
 * `| `, and names of files are on one line, so that foreign text never looks like a field. See BODIES for the exception.
 */
export function readable(answer: JsonObject): string {
  const lines: string[] = [];
  let last: string[] = [];
  for (const [name, value] of Object.entries(answer)) {
    const isBody = last.length === 0 && BODIES.has(name) && typeof value === 'string' && hasUnsafe(value);
    if (isBody) last = [`${name}, to the end of this answer:`, value];
    else addField(lines, '', onOneLine(name), value);
  }
  return [...lines, ...last].join('\n');
}

/** Adds whole lines, each with `indent` before it. */
function addField(lines: string[], indent: string, name: string, value: unknown): void {
  if (value === undefined || (QUIET.has(name) && isEmpty(value))) return;
  if (typeof value === 'string' && LINE_BREAK.test(value) && !NAME.test(name)) {
    lines.push(`${indent}${name}:`, quotedLines(value, indent));
  } else if (Array.isArray(value)) {
    lines.push(`${indent}${name}:${value.length === 0 ? ' none' : ''}`);
    for (const item of value) addItem(lines, indent, item);
  } else if (isObject(value)) {
    lines.push(`${indent}${name}:`);
    addFields(lines, `${indent}  `, value);
  } else {
    lines.push(`${indent}${name}: ${onOneLine(value)}`);
  }
}

/** Keys come from callers, agents and other machines, too: questions, for one. */
function addFields(lines: string[], indent: string, value: JsonObject): void {
  for (const key of Object.keys(value)) addField(lines, indent, onOneLine(key), value[key]);
}

function addItem(lines: string[], indent: string, value: unknown): void {
  if (!isObject(value)) {
    lines.push(`${indent}- ${onOneLine(value)}`);
    return;
  }
  const first = lines.length;
  addFields(lines, `${indent}  `, value);
  // The dash takes the place of the indent of the first line.
  if (lines.length > first) lines[first] = `${indent}- ${(lines[first] ?? '').slice(indent.length + 2)}`;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (isObject(value) && Object.keys(value).length === 0);
}

/** As it is, or, with a character in it that is not safe to show, as a JSON string. */
function onOneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return hasUnsafe(text) ? escapedUnsafe(JSON.stringify(text)) : text;
}
