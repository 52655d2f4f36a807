import type { EntryType } from './walk-entry.js';

/** An entry of a folder in a listing. */
export interface ListedFile {
  /** Relative to the listed folder. */
  readonly name: string;
  readonly type: EntryType;
  /** Bytes; only for files. */
  readonly size?: number;
  /** Where a link points. */
  readonly target?: string;
  /** Why nothing below a folder is shown. */
  readonly note?: string;
}
