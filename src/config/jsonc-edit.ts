// Pure.
import { visit, type JSONPath } from 'jsonc-parser';
import { splitByteOrderMark } from './settings-text.js';

export interface JsonEdit {
  readonly path: JSONPath;
  /** Undefined removes what is at `path`. */
  readonly value: unknown;
  /** Adds to the list at `path` (its last step is -1) instead of replacing. */
  readonly insert?: boolean;
}

/** A property or an element, by offsets. */
interface Member {
  readonly key: string | number;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** An object or a list. */
interface Container {
  /** The offset of its bracket. */
  readonly begin: number;
  /** The offset of its closing bracket. */
  readonly end: number;
  readonly members: readonly Member[];
}

/** `text` without its part from `from` to `to`, and with `added` there. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly added?: string;
}

const BLANKS = /[ \t]*/y;
const BLANKS_AND_COMMENTS = /(?:\s|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/y;
/** What follows a member on its line, if only comments do. */
const REST_OF_LINE = /[ \t]*(?:(?:\/\/[^\r\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)[ \t]*)*(?=[\r\n]|$)/y;

/**
 * The text with the edits made. Nothing else changes: comments stay at their lines, and what was added and is removed leaves
 * the text as it was, but for blanks in brackets that hold nothing. An empty text becomes an object.
 */
export function editJson(text: string, edits: readonly JsonEdit[]): string {
  const { mark, json } = splitByteOrderMark(text);
  return mark + edits.reduce(applyEdit, json.trim() === '' ? '{}\n' : json);
}

/** The objects and lists on the way to what is at `path`, the outermost first; it reads megabytes without a tree of them. */
export function containersOn(json: string, path: JSONPath): readonly Container[] {
  const found = new ContainersOn(path);
  visit(json, {
    onObjectBegin: (offset) => found.begin(offset),
    onArrayBegin: (offset) => found.begin(offset),
    onObjectEnd: (offset) => found.end(offset),
    onArrayEnd: (offset) => found.end(offset),
    onObjectProperty: (name, offset) => found.name(name, offset),
    onLiteralValue: (_value, offset, length) => found.literal(offset, length),
  });
  return found.containers;
}

interface OpenContainer {
  readonly begin: number;
  end: number;
  readonly members: Member[];
  /** The name of the member that comes next, and where it begins. */
  next?: { readonly key: string; readonly start: number } | undefined;
}

/** Only members of the containers on the path are noted. */
class ContainersOn {
  readonly containers: OpenContainer[] = [];
  readonly #path: JSONPath;
  /** Those on the path; the reader is in one of them while it is as deep as they are many. */
  readonly #open: OpenContainer[] = [];
  #depth = 0;

  constructor(path: JSONPath) {
    this.#path = path;
  }

  begin(offset: number): void {
    this.#valueBegins(offset);
    const isOnPath =
      this.#open.length === this.#depth &&
      this.#depth < this.#path.length &&
      (this.#depth === 0 || this.#open.at(-1)?.members.at(-1)?.key === this.#path[this.#depth - 1]);
    // Of two with the same name the first counts.
    if (isOnPath && this.containers[this.#depth] === undefined) {
      const container = { begin: offset, end: offset, members: [] };
      this.#open.push(container);
      this.containers.push(container);
    }
    this.#depth++;
  }

  end(offset: number): void {
    this.#depth--;
    const closed = this.#open.length > this.#depth ? this.#open.pop() : undefined;
    if (closed !== undefined) closed.end = offset;
    this.#valueEnds(offset + 1);
  }

  name(key: string, start: number): void {
    const parent = this.#parent();
    if (parent !== undefined) parent.next = { key, start };
  }

  literal(offset: number, length: number): void {
    this.#valueBegins(offset);
    this.#valueEnds(offset + length);
  }

  #parent(): OpenContainer | undefined {
    return this.#open.length === this.#depth ? this.#open.at(-1) : undefined;
  }

  #valueBegins(offset: number): void {
    const parent = this.#parent();
    if (parent === undefined) return;
    const { members, next = { key: members.length, start: offset } } = parent;
    members.push({ ...next, valueStart: offset, end: offset });
    parent.next = undefined;
  }

  #valueEnds(end: number): void {
    const members = this.#parent()?.members;
    const last = members?.pop();
    if (last !== undefined) members?.push({ ...last, end });
  }
}

function applyEdit(json: string, { path, value, insert = false }: JsonEdit): string {
  const containers = containersOn(json, path);
  const known = containers[path.length - 1]?.members.find(({ key }) => key === path.at(-1));
  if (value === undefined) return known === undefined ? json : cut(json, containers, known);
  if (known !== undefined && !insert) return replaced(json, known, value);
  const depth = containers.length - 1;
  const holder = containers[depth];
  const key = path[depth];
  if (holder === undefined || key === undefined) throw new Error('the text is no JSON object');
  const whole = path
    .slice(depth + 1)
    .reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
  // Such as null, which holds nothing.
  const other = holder.members.find((member) => member.key === key);
  return other === undefined ? inserted(json, holder, key, whole) : replaced(json, other, whole);
}

function replaced(json: string, { start, valueStart, end }: Member, value: unknown): string {
  const indent = indentBefore(json, start);
  const text = indent === undefined ? JSON.stringify(value) : printed(json, indent, value);
  return spliced(json, [{ from: valueStart, to: end, added: text }]);
}

/** Adds a last member: on a line of its own where the others have one, behind the comments of the line before. */
function inserted(
  json: string,
  { begin, end, members }: Container,
  key: string | number,
  value: unknown,
): string {
  const name = typeof key === 'number' ? '' : `${JSON.stringify(key)}: `;
  const eol = eolOf(json);
  const last = members.at(-1);
  if (last === undefined) {
    const outer = indentOfLine(json, begin);
    const at = begin + json.slice(begin, end).trimEnd().length;
    const isClosedBelow = /[\r\n]/.test(json.slice(at, end));
    const member = eol + outer + unitOf(json) + name + printed(json, outer + unitOf(json), value);
    return spliced(json, [
      isClosedBelow
        ? { from: at, to: at, added: member }
        : { from: at, to: end, added: member + eol + outer },
    ]);
  }
  const comma = commaAfter(json, last.end);
  const after = comma === undefined ? last.end : comma + 1;
  const indent = indentBefore(json, last.start);
  const member =
    indent === undefined
      ? ` ${name}${JSON.stringify(value)}`
      : eol + indent + name + printed(json, indent, value);
  const at = indent === undefined ? after : after + (matchAt(REST_OF_LINE, json, after) ?? '').length;
  return comma === undefined
    ? spliced(json, [
        { from: last.end, to: last.end, added: ',' },
        { from: at, to: at, added: member },
      ])
    : spliced(json, [{ from: at, to: at, added: `${member},` }]);
}

/** Takes out a member with its comma and its line; comments stay. */
function cut(json: string, containers: readonly Container[], member: Member): string {
  const { begin, end, members } = containers.at(-1) ?? { begin: 0, end: 0, members: [] };
  const at = members.indexOf(member);
  const previous = members[at - 1];
  const comma = commaAfter(json, member.end);
  const after = comma === undefined ? member.end : comma + 1;
  const commaBefore =
    comma === undefined && previous !== undefined ? commaAfter(json, previous.end) : undefined;
  const cuts: Splice[] = [{ from: member.start, to: member.end }];
  if (comma !== undefined) cuts.push({ from: comma, to: comma + 1 });
  if (commaBefore !== undefined) cuts.push({ from: commaBefore, to: commaBefore + 1 });
  // Where no comment is between it and the one before, what follows on its line may move up.
  const isBehind = previous !== undefined && /^\s*,?\s*$/.test(json.slice(previous.end, member.start));
  const isLine =
    indentBefore(json, member.start) !== undefined &&
    (isBehind || matchAt(REST_OF_LINE, json, after) !== undefined);
  if (isLine || previous !== undefined)
    cuts.push({ from: blanksBefore(json, member.start, isLine), to: member.start });
  else cuts.push({ from: after, to: after + (matchAt(BLANKS, json, after) ?? '').length });
  const left = spliced(json, cuts);
  const closing = end - (json.length - left.length);
  const isBlank = left.slice(begin + 1, closing).trim() === '';
  return isBlank ? spliced(left, [{ from: begin + 1, to: closing }]) : left;
}

function spliced(json: string, splices: readonly Splice[]): string {
  return splices
    .toReversed()
    .toSorted((one, other) => other.from - one.from || other.to - one.to)
    .reduce((text, { from, to, added = '' }) => text.slice(0, from) + added + text.slice(to), json);
}

function commaAfter(json: string, offset: number): number | undefined {
  const at = offset + (matchAt(BLANKS_AND_COMMENTS, json, offset) ?? '').length;
  return json[at] === ',' ? at : undefined;
}

/** The blanks before a member that begins its line. */
function indentBefore(json: string, offset: number): string | undefined {
  return /^[ \t]*$/.exec(json.slice(lineStart(json, offset), offset))?.[0];
}

/** Where the blanks before `offset` begin, with the line end before them or without it. */
function blanksBefore(json: string, offset: number, isLine: boolean): number {
  let at = offset;
  while (/[ \t]/.test(json[at - 1] ?? '')) at--;
  if (!isLine) return at;
  return json.startsWith('\r\n', at - 2) ? at - 2 : at - 1;
}

function indentOfLine(json: string, offset: number): string {
  return matchAt(BLANKS, json, lineStart(json, offset)) ?? '';
}

function lineStart(json: string, offset: number): number {
  return Math.max(json.lastIndexOf('\n', offset - 1), json.lastIndexOf('\r', offset - 1)) + 1;
}

function printed(json: string, indent: string, value: unknown): string {
  return JSON.stringify(value, null, unitOf(json)).replaceAll('\n', eolOf(json) + indent);
}

function unitOf(json: string): string {
  return /^([ \t]+)\S/m.exec(json)?.[1] ?? '  ';
}

function eolOf(json: string): string {
  return json.includes('\r\n') ? '\r\n' : '\n';
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}
