// Pure: matches of one file with the lines around them, from ripgrep's lines in their order.
import type { RipgrepLine } from './ripgrep-events.js';
import type { FoundMatch } from './search-page.js';

/** Enough of a line to understand the match. */
const SHOWN_LINE_CHARS = 300;
/** The part of it before the match. */
const LEAD_CHARS = 100;

interface ShownLine {
  readonly line: number;
  readonly shown: string;
}

interface OpenMatch extends ShownLine {
  readonly column: number;
  readonly before: string[];
  readonly after: string[];
}

/** Completes matches with `context` lines before and after each; those up to `afterLine` were on earlier pages. */
export class FileMatches {
  readonly #path: string;
  readonly #context: number;
  readonly #afterLine: number;
  readonly #take: (match: FoundMatch) => void;
  /** The last lines, at most `context`. */
  #recent: ShownLine[] = [];
  /** Matches that may get further lines after them. */
  #open: OpenMatch[] = [];

  constructor(options: {
    readonly path: string;
    readonly context: number;
    readonly afterLine: number;
    readonly take: (match: FoundMatch) => void;
  }) {
    this.#path = options.path;
    this.#context = options.context;
    this.#afterLine = options.afterLine;
    this.#take = options.take;
  }

  add({ line, column, text }: RipgrepLine): void {
    this.#close(line - this.#context);
    // A copy, since a slice would keep the whole long line in memory.
    const beside = { line, shown: Buffer.from(shownLine(text, 0)).toString() };
    for (const { after } of this.#open) after.push(beside.shown);
    if (column !== undefined && line > this.#afterLine) {
      const before = this.#recent.filter((one) => one.line >= line - this.#context);
      const shown = Buffer.from(shownLine(text, column)).toString();
      this.#open.push({ line, column, shown, before: before.map((one) => one.shown), after: [] });
    }
    if (this.#context > 0) this.#recent = [...this.#recent, beside].slice(-this.#context);
  }

  /** The file has no more lines. */
  end(): void {
    this.#close(Infinity);
  }

  /** Takes the matches before this line. */
  #close(beforeLine: number): void {
    for (let first = this.#open[0]; first !== undefined && first.line < beforeLine; first = this.#open[0]) {
      this.#open.shift();
      const { line, column, shown, before, after } = first;
      const around = this.#context === 0 ? {} : { before, after };
      this.#take({ path: this.#path, line, column: column + 1, text: shown, ...around });
    }
  }
}

/** The part of the line around `at`, with `…` at the cuts. */
function shownLine(line: string, at: number): string {
  if (line.length <= SHOWN_LINE_CHARS) return line;
  const start = at < SHOWN_LINE_CHARS - LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const end = start + SHOWN_LINE_CHARS;
  // Removes half of a surrogate pair at the cuts.
  const part = line.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}
