import type { EntryType } from './walk-entry.js';

/** An entry of a folder as a listing tells of it. */
export interface ListedFile {
  /** Relative to the listed folder. */
  readonly name: string;
  readonly type: EntryType;
  /** Bytes; of files only. */
  readonly size?: number;
  /** Where a link points. */
  readonly target?: string;
  /** Why nothing below a folder is shown. */
  readonly note?: string;
}
