// Pure: `git status --porcelain=v2 -z --branch`, field by field.
import { unreadable } from './nul-fields.js';
import { shownBytes } from './diff/shown-bytes.js';

export type StatusList = 'staged' | 'modified' | 'untracked' | 'deleted' | 'conflicted';

export interface Renamed {
  readonly from: string;
  readonly to: string;
  /** True when the old one is still there. */
  readonly copy?: true;
}

export interface StatusSink {
  file(list: StatusList, path: string): void;
  renamed(pair: Renamed): void;
  /** A path with bytes that are no UTF-8 was shown escaped. */
  escaped(): void;
}

export interface BranchFacts {
  /** null when HEAD is detached. */
  branch: string | null;
  /** The commit; null before the first one. */
  head: string | null;
  upstream: string | null;
  /** False when the upstream is set and does not exist (any more). */
  isUpstreamThere: boolean;
  ahead: number;
  behind: number;
}

/** How many words stand before the path, by the first letter of an entry. */
const WORDS_BEFORE_PATH: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 };
const SPACE = 0x20;

/** Reads one field after the other; a rename takes two. */
export class StatusParser {
  readonly branch: BranchFacts = {
    branch: null,
    head: null,
    upstream: null,
    isUpstreamThere: false,
    ahead: 0,
    behind: 0,
  };
  readonly #sink: StatusSink;
  #renamed: { readonly to: string; readonly copy: boolean } | undefined;

  constructor(sink: StatusSink) {
    this.#sink = sink;
  }

  /** Throws GIT_FAILED for what no version of the format holds. */
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
        facts.isUpstreamThere = true;
        facts.ahead = Number(counts[1]);
        facts.behind = Number(counts[2]);
        break;
      }
      default:
        // Headers may be added by later versions; the format says to pass them over.
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
    // Also a submodule whose commit changed, a changed type, and what `git add -N` announced.
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
