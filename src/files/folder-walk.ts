import { closeSync, constants, openSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { systemCodeOf } from '../base/errors.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import { ALWAYS_IGNORED, alwaysIgnoredBy, type IgnoreRules, type RuledFolder } from './ignore-rules.js';

/** Linux: a descriptor that only identifies a path and cannot be read (open(2)), so opening it never blocks. */
const O_PATH = 0o10000000;
/** Each takes a few runs of git. Further repositories are shown without their contents. */
const MAX_REPOSITORIES = 24;
/** A heavy call may delay a trivial one by 20 ms; this leaves room for the work between two checks of the clock. */
const SLICE_MS = 8;

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** A name in a folder and its type. */
export interface WalkEntry {
  readonly name: string;
  /** The name in lower case. */
  readonly lower: string;
  readonly isFolder: boolean;
  readonly type: EntryType;
}
/** What determines the order of an entry. */
export type OrderedName = Omit<WalkEntry, 'type'>;

/** A folder that was read. Its descriptor stays open for reading its subfolders, until `close`. */
export interface WalkedFolder {
  /** `''` for the first one, otherwise `a/b`. */
  readonly relative: string;
  /** A path through the descriptor, which stays valid even if the folder is replaced. */
  readonly fdPath: string;
  readonly fd: number | undefined;
  /** The entries to show, sorted. */
  readonly entries: readonly WalkEntry[];
  /** Why it has no entries, when it is not just empty. */
  readonly note: string | undefined;
  readonly rules: IgnoreRules;
  /** The folder that the rules are for: a prefix of `relative`. */
  readonly rulesBase: string;
}

type UnreadFolder = Omit<WalkedFolder, 'entries' | 'note'>;

/** Folders first, then by name ignoring case, then by exact name: whatever the locale, so a cursor means the same everywhere. */
export function compareNames(one: OrderedName, other: OrderedName): number {
  if (one.isFolder !== other.isFolder) return one.isFolder ? -1 : 1;
  if (one.lower !== other.lower) return one.lower < other.lower ? -1 : 1;
  return one.name === other.name ? 0 : one.name < other.name ? -1 : 1;
}

export interface WalkOptions {
  /** The caller must close it. */
  readonly top: OpenedDirectory;
  readonly hasDescriptorPaths: boolean;
  readonly rulesFor: (folder: RuledFolder) => Promise<IgnoreRules>;
  /** True to also show names that begin with a dot, except `.git`. */
  readonly showsHidden: boolean;
  readonly signal: AbortSignal;
}

/** Reads folders of one tree, each through the descriptor of the folder above, so that no link is ever followed. */
export class FolderWalk {
  /** What was ignored in the folders that were read, as relative paths. */
  readonly leftOut: { readonly folders: string[]; readonly files: string[] } = { folders: [], files: [] };
  readonly #options: WalkOptions;
  readonly #open = new Set<number>();
  readonly #rules: IgnoreRules[] = [];
  #hidden = 0;
  #sinceMs = performance.now();

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  /** Notes for the caller about the rules that were applied, and what was left out. */
  get notes(): readonly string[] {
    const leftOut = this.#leftOutNote();
    return [...this.#rules.flatMap(({ notes }) => notes), ...(leftOut === undefined ? [] : [leftOut])];
  }

  async first(): Promise<WalkedFolder> {
    const { top } = this.#options;
    const fdPath = top.entry('.');
    const rules = await this.#newRules({ path: top.path, fdPath });
    return this.#read({ relative: '', fdPath, fd: top.handle.fd, rules, rulesBase: '' });
  }

  /** Reads the folder `name` in `parent`; an unreadable one has a note instead of entries. */
  async below(parent: WalkedFolder, name: string): Promise<WalkedFolder> {
    const relative = parent.relative === '' ? name : `${parent.relative}/${name}`;
    const { rules, rulesBase } = parent;
    const opened = this.#opened(join(parent.fdPath, name));
    if ('note' in opened)
      return { relative, fdPath: '', fd: undefined, rules, rulesBase, entries: [], note: opened.note };
    return this.#read({ relative, ...opened, rules, rulesBase });
  }

  /** Lets other calls run during long work. Throws the signal's reason when the call was cancelled. */
  async pause(): Promise<void> {
    if (performance.now() - this.#sinceMs <= SLICE_MS) return;
    await setImmediate();
    this.#options.signal.throwIfAborted();
    this.#sinceMs = performance.now();
  }

  close(folder: WalkedFolder): void {
    if (folder.fd !== undefined && this.#open.delete(folder.fd)) closeSync(folder.fd);
  }

  /** Closes all descriptors that are still open. */
  end(): void {
    for (const fd of this.#open) closeSync(fd);
    this.#open.clear();
  }

  async #read(unread: UnreadFolder): Promise<WalkedFolder> {
    let found: Dirent[];
    try {
      // Synchronous: to hand it to a thread takes longer than to read a folder. `pause` lets other calls run.
      found = readdirSync(unread.fdPath, { withFileTypes: true });
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === undefined) throw thrown;
      return { ...unread, entries: [], note: `unreadable: ${code}` };
    }
    await this.pause();
    const hasGit = unread.relative !== '' && found.some(({ name }) => name === '.git');
    if (hasGit && (unread.rules.isGit || this.#rules.length >= MAX_REPOSITORIES))
      return { ...unread, entries: [], note: 'repository' };
    const folder = hasGit ? await this.#withOwnRules(unread) : unread;
    return { ...folder, entries: this.#shown(folder, found), note: undefined };
  }

  /** A repository below a plain folder has its own rules; a folder that is none for git has those of the plain one. */
  async #withOwnRules(folder: UnreadFolder): Promise<UnreadFolder> {
    const { relative, fdPath } = folder;
    const rules = await this.#newRules({ path: join(this.#options.top.path, relative), fdPath });
    return rules.isGit ? { ...folder, rules, rulesBase: relative } : folder;
  }

  /** The entries to show, sorted; the others are counted. */
  #shown({ relative, rules, rulesBase }: UnreadFolder, found: readonly Dirent[]): WalkEntry[] {
    const shown: WalkEntry[] = [];
    for (const entry of found) {
      const { name } = entry;
      if (name === '.git') continue;
      const isFolder = entry.isDirectory();
      const path = relative === '' ? name : `${relative}/${name}`;
      const isHidden = !this.#options.showsHidden && name.startsWith('.') && name !== '.claude';
      if (!isHidden && !rules.isIgnored(rulesBase === '' ? path : path.slice(rulesBase.length + 1), isFolder))
        shown.push({ name, lower: name.toLowerCase(), isFolder, type: typeOf(entry) });
      else if (rules.ignoresAll) continue;
      else if (isHidden) this.#hidden++;
      else this.leftOut[isFolder ? 'folders' : 'files'].push(path);
    }
    return shown.sort(compareNames);
  }

  async #newRules(folder: RuledFolder): Promise<IgnoreRules> {
    const rules = await this.#options.rulesFor(folder);
    this.#rules.push(rules);
    return rules;
  }

  #leftOutNote(): string | undefined {
    const counts = new Map<string, number>();
    for (const path of [...this.leftOut.folders, ...this.leftOut.files]) {
      const kind = alwaysIgnoredBy(path) ?? 'ignored';
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    const parts = ALWAYS_IGNORED.flatMap((pattern) => {
      const count = counts.get(pattern);
      return count === undefined ? [] : [count === 1 ? pattern : `${pattern} (${count})`];
    });
    const others = counts.get('ignored');
    if (others !== undefined) parts.push(`${others} ignored`);
    if (this.#hidden > 0) parts.push(`${this.#hidden} hidden`);
    return parts.length === 0 ? undefined : `left out: ${parts.join(', ')}; ignored: true shows them`;
  }

  #opened(fdPath: string): { readonly fdPath: string; readonly fd: number } | { readonly note: string } {
    const isByDescriptor = this.#options.hasDescriptorPaths;
    const flags = isByDescriptor ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK;
    try {
      const fd = openSync(fdPath, flags | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      this.#open.add(fd);
      return { fdPath: isByDescriptor ? `/proc/self/fd/${fd}` : fdPath, fd };
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
      if (code === 'EACCES' || code === 'EPERM') return { note: `unreadable: ${code}` };
      return { note: fdPath.includes('\ufffd') ? 'its name is not UTF-8' : 'changed meanwhile' };
    }
  }
}

function typeOf(entry: Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}
