// Pure: parses `git status --porcelain=v2 -z --branch`, field by field.
import { unreadable } from './nul-fields.js';
import { shownBytes } from './diff/shown-bytes.js';

export type StatusList = 'staged' | 'modified' | 'untracked' | 'deleted' | 'conflicted';

export interface Renamed {
  readonly from: string;
  readonly to: string;
  /** True for a copy: the old file still exists. */
  readonly copy?: true;
}

export interface StatusSink {
  file(list: StatusList, path: string): void;
  renamed(pair: Renamed): void;
  /** Called for a path with escaped bytes that are not UTF-8. */
  escaped(): void;
}

export interface BranchFacts {
  /** null when HEAD is detached. */
  branch: string | null;
  /** The commit of HEAD; null before the first one. */
  head: string | null;
  upstream: string | null;
  /** False when no upstream is set, or the upstream does not exist (any more). */
  upstreamExists: boolean;
  ahead: number;
  behind: number;
}

/** Number of words before the path, by the first letter of an entry. */
const WORDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };
const SPACE = 0x20;

/** Takes one field after the other; a rename has two. */
export class StatusParser {
  readonly branch: BranchFacts = {
    branch: null,
    head: null,
    upstream: null,
    upstreamExists: false,
    ahead: 0,
    behind: 0,
  };
  readonly #sink: StatusSink;
  #renamed: { readonly to: string; readonly copy: boolean } | undefined;

  constructor(sink: StatusSink) {
    this.#sink = sink;
  }

  /** Throws GIT_FAILED for a field that no version of the format allows. */
  take(field: Buffer): void {
    if (this.#renamed !== undefined) {
      const { to, copy } = this.#renamed;
      this.#renamed = undefined;
      this.#sink.renamed({ from: this.#path(field), to, ...(copy && { copy }) });
      return;
    }
    const kind = String.fromCharCode(field[0] ?? SPACE);
    if (kind === '#') this.#header(shownBytes(field.subarray(2)).text);
    else if (kind === '?') this.#sink.file('untracked', this.#path(field.subarray(2)));
    else if (kind !== '!') this.#change(kind, field);
  }

  #header(text: string): void {
    const space = text.indexOf(' ');
    const value = text.slice(space + 1);
    const facts = this.branch;
    switch (text.slice(0, space)) {
      case 'branch.oid':
        facts.head = value === '(initial)' ? null : value;
        break;
      case 'branch.head':
        facts.branch = value === '(detached)' ? null : value;
        break;
      case 'branch.upstream':
        facts.upstream = value;
        break;
      case 'branch.ab': {
        const counts = /^\+(\d+) -(\d+)$/.exec(value);
        if (counts === null) throw unreadable(`the counts "${value}"`);
        facts.upstreamExists = true;
        facts.ahead = Number(counts[1]);
        facts.behind = Number(counts[2]);
        break;
      }
      default:
        // Later versions may add headers; the format says to ignore unknown ones.
        break;
    }
  }

  #change(kind: string, field: Buffer): void {
    const words = WORDS_BEFORE_PATH[kind];
    if (words === undefined) throw unreadable(`an entry of the kind "${kind}"`);
    let start = 0;
    for (let word = 0; word < words; word++) {
      start = field.indexOf(SPACE, start) + 1;
      if (start === 0) throw unreadable('an entry without a path');
    }
    const path = this.#path(field.subarray(start));
    if (kind === 'u') {
      this.#sink.file('conflicted', path);
      return;
    }
    const inIndex = String.fromCharCode(field[2] ?? 0);
    const inFolder = String.fromCharCode(field[3] ?? 0);
    if (inIndex !== '.') this.#sink.file('staged', path);
    // These include a submodule with another commit, a changed type, and a file added with `git add -N`.
    if ('MTARC'.includes(inFolder)) this.#sink.file('modified', path);
    if (inIndex === 'D' || inFolder === 'D') this.#sink.file('deleted', path);
    if (kind === '2') {
      const score = field.lastIndexOf(SPACE, start - 2) + 1;
      this.#renamed = { to: path, copy: field[score] === 'C'.charCodeAt(0) };
    }
  }

  #path(bytes: Buffer): string {
    const { text, escaped } = shownBytes(bytes);
    if (escaped) this.#sink.escaped();
    return text;
  }
}
