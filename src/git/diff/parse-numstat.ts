// Pure: parses `git diff --numstat -z`, field by field.
import { unreadable } from '../nul-fields.js';
import { shownBytes } from './shown-bytes.js';

export interface FileStat {
  /** Relative to the top of the repository. */
  readonly file: string;
  /** Lines; 0 for a binary file. */
  readonly insertions: number;
  readonly deletions: number;
  readonly binary?: true;
  /** The old name of a renamed or copied file. */
  readonly from?: string;
  /** True when a name contains escaped bytes that are not UTF-8. */
  readonly escaped?: true;
}

type Counts = Pick<FileStat, 'insertions' | 'deletions' | 'binary'>;

/** Takes one field after the other; a rename has three. */
export class NumstatParser {
  readonly #take: (stat: FileStat) => void;
  #renamed: { readonly counts: Counts; readonly from: Buffer | undefined } | undefined;

  constructor(take: (stat: FileStat) => void) {
    this.#take = take;
  }

  /** Throws GIT_FAILED for a field that no version of the format allows. */
  take(field: Buffer): void {
    if (this.#renamed !== undefined) {
      const { counts, from } = this.#renamed;
      if (from === undefined) {
        this.#renamed = { counts, from: Buffer.from(field) };
        return;
      }
      this.#renamed = undefined;
      this.#give(counts, field, from);
      return;
    }
    const head = /^(\d+|-)\t(\d+|-)\t/.exec(field.toString('latin1'));
    if (head === null) throw unreadable('a numstat line without counts');
    const [all, added = '-', removed = '-'] = head;
    const counts: Counts =
      added === '-'
        ? { insertions: 0, deletions: 0, binary: true }
        : { insertions: Number(added), deletions: Number(removed) };
    // Without a name after the counts, the old and the new name follow.
    if (field.length === all.length) this.#renamed = { counts, from: undefined };
    else this.#give(counts, field.subarray(all.length), undefined);
  }

  #give(counts: Counts, name: Buffer, oldName: Buffer | undefined): void {
    const file = shownBytes(name);
    const from = oldName === undefined ? undefined : shownBytes(oldName);
    this.#take({
      file: file.text,
      ...counts,
      ...(from !== undefined && { from: from.text }),
      ...((file.escaped || from?.escaped === true) && { escaped: true }),
    });
  }
}
