/** The servers that a settings file names, or why it cannot be read. */
export type ServersRead =
  | {
      readonly kind: 'servers';
      readonly servers: Readonly<Record<string, unknown>>;
      /** Everything else that the file says. */
      readonly rest: unknown;
    }
  | { readonly kind: 'broken'; readonly why: string };

export type Entry = Readonly<Record<string, unknown>>;

/**
 * A language of settings files. All functions are pure; edits keep comments, order and layout of everything else, or throw
 * when the text is not made for that.
 */
export interface SettingsFormat {
  /** The object at `serversKey`; an empty text or a missing key has no servers. */
  readonly servers: (text: string, serversKey: string) => ServersRead;
  /** The text with the entry added or replaced. The text must have been read without error. */
  readonly withEntry: (text: string, serversKey: string, name: string, entry: Entry) => string;
  /** The text without the entry, and without `serversKey` if nothing else is in it. The entry must be there. */
  readonly withoutEntry: (text: string, serversKey: string, name: string) => string;
  /** A whole text with the entry alone, for who edits by hand. */
  readonly print: (serversKey: string, name: string, entry: Entry) => string;
  /** Whether it says nothing: no value and no comment. */
  readonly isEmpty: (text: string) => boolean;
}
