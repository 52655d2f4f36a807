import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import { isRepository } from '../ignore/git-above.js';
import { LeftOut } from '../ignore/always-ignored.js';
import type { IgnoreRules } from '../ignore/ignore-rules.js';
import type { CachedNames } from './cached-names.js';
import { namesIn } from './folder-names.js';
import { isHidden } from './list-order.js';
import type { WalkEntry } from './walk-entry.js';
import { WalkPause } from './walk-pause.js';

/** Linux: a descriptor that only names a path (open(2)); nothing is read by it, and no pipe waits. */
const O_PATH = 0o10000000;
/** Each takes a few runs of git; what is in further repositories follows the files' own rules. */
const MAX_REPOSITORIES = 24;

/** A folder that was read. Its descriptor stays open for its subfolders until it is closed. */
export interface WalkedFolder {
  /** `''` for the first one, else `a/b`. */
  readonly relative: string;
  /** Leads to this very folder, whatever replaces it. */
  readonly place: string;
  readonly fd: number | undefined;
  /** What may be shown, in order. */
  readonly entries: readonly WalkEntry[];
  /** Why it has no entries, when it is not just empty. */
  readonly note: string | undefined;
  readonly rules: IgnoreRules;
  /** The folder that the rules are for: a prefix of `relative`. */
  readonly rulesBase: string;
}

/** The rules for a repository, or for the files at `path`; `place` leads to the same folder. */
export type RulesFor = (path: string, place: string) => Promise<IgnoreRules>;

/** Reads folders of one tree, each through the descriptor of the folder above, so that no link is ever followed. */
export class FolderWalk {
  readonly pause: WalkPause;
  readonly #top: OpenedDirectory;
  readonly #hasDescriptorPaths: boolean;
  readonly #rulesFor: RulesFor;
  readonly #cache: CachedNames;
  readonly #showsHidden: boolean;
  readonly #open = new Set<number>();
  readonly #rules: IgnoreRules[] = [];
  readonly #leftOut = new LeftOut();

  /** `top` stays the caller's. */
  constructor(options: {
    readonly top: OpenedDirectory;
    readonly hasDescriptorPaths: boolean;
    readonly rulesFor: RulesFor;
    readonly cache: CachedNames;
    /** True to show names that begin with a dot, too; never `.git`. */
    readonly showsHidden: boolean;
    readonly signal: AbortSignal;
  }) {
    this.#top = options.top;
    this.#hasDescriptorPaths = options.hasDescriptorPaths;
    this.#rulesFor = options.rulesFor;
    this.#cache = options.cache;
    this.#showsHidden = options.showsHidden;
    this.pause = new WalkPause(options.signal);
  }

  /** What a reader must know of the rules that were applied. */
  get notes(): readonly string[] {
    return this.#rules.flatMap(({ notes }) => notes);
  }

  /** What was left out though a reader may look for it, of the folders that were read. */
  get leftOut(): string | undefined {
    return this.#leftOut.note();
  }

  async first(): Promise<WalkedFolder> {
    const place = this.#top.entry('.');
    const rules = await this.#newRules(this.#top.path, place);
    return this.#read({ relative: '', place, fd: this.#top.handle.fd, rules, rulesBase: '' }, false);
  }

  /** The folder `name` in `parent`; what cannot be read has a note instead of entries. */
  async below(parent: WalkedFolder, name: string): Promise<WalkedFolder> {
    const relative = parent.relative === '' ? name : `${parent.relative}/${name}`;
    const { rules, rulesBase } = parent;
    const opened = this.#opened(join(parent.place, name));
    if ('note' in opened)
      return withoutEntries({ relative, place: '', fd: undefined, rules, rulesBase }, opened.note);
    return this.#read({ relative, ...opened, rules, rulesBase }, true);
  }

  close(folder: WalkedFolder): void {
    if (folder.fd === undefined || !this.#open.delete(folder.fd)) return;
    closeSync(folder.fd);
  }

  /** Closes whatever is still open. */
  end(): void {
    for (const fd of this.#open) closeSync(fd);
    this.#open.clear();
  }

  async #read(folder: Omit<WalkedFolder, 'entries' | 'note'>, isNested: boolean): Promise<WalkedFolder> {
    const { place, fd } = folder;
    const localDev = this.#top.isLocal ? Number(this.#top.stats.dev) : undefined;
    const names = await namesIn({ place, fd, localDev }, this.#cache);
    if (this.pause.isDue()) await this.pause.wait();
    if ('fault' in names) return withoutEntries(folder, `unreadable: ${names.fault}`);
    let { rules, rulesBase } = folder;
    if (isNested && names.hasGit && isRepository(place)) {
      if (rules.isGit) return withoutEntries(folder, 'repository');
      if (this.#rules.length < MAX_REPOSITORIES) {
        rules = await this.#newRules(join(this.#top.path, folder.relative), place);
        if (rules.isGit) rulesBase = folder.relative;
        else rules = folder.rules;
      }
    }
    // git does not know what is ignored here: it would wait for this file forever.
    if (rules.isGit && names.hasPipe) return withoutEntries(folder, 'its .gitignore is not a file');
    const shown = names.entries.filter(({ name }) => this.#showsHidden || !isHidden(name));
    const inRules = rulesBase === '' ? folder.relative : folder.relative.slice(rulesBase.length + 1);
    const ignored = await rules.ignored(inRules, shown, place);
    this.#leftOut.add(shown, ignored);
    const entries = ignored.size === 0 ? shown : shown.filter(({ name }) => !ignored.has(name));
    return { ...folder, rules, rulesBase, entries, note: undefined };
  }

  async #newRules(path: string, place: string): Promise<IgnoreRules> {
    const rules = await this.#rulesFor(path, place);
    this.#rules.push(rules);
    return rules;
  }

  #opened(
    place: string,
  ): { readonly place: string; readonly fd: number | undefined } | { readonly note: string } {
    const flags = this.#hasDescriptorPaths ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK;
    try {
      const fd = openSync(place, flags | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      this.#open.add(fd);
      return { place: this.#hasDescriptorPaths ? `/proc/self/fd/${fd}` : place, fd };
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
      return { note: code === 'EACCES' || code === 'EPERM' ? `unreadable: ${code}` : 'changed meanwhile' };
    }
  }
}

function withoutEntries(folder: Omit<WalkedFolder, 'entries' | 'note'>, note: string): WalkedFolder {
  return { ...folder, entries: [], note };
}
