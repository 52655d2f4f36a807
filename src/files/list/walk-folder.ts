import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import type { OpenedDirectory } from '../../projects/opened-path.js';
import { isRepository } from '../ignore/git-above.js';
import type { IgnoreRules } from '../ignore/ignore-rules.js';
import { LeftOut } from '../ignore/left-out.js';
import { namesIn } from './folder-names.js';
import { isHidden } from './list-order.js';
import type { WalkEntry } from './walk-entry.js';
import { WalkPause } from '../ignore/walk-pause.js';

/** Linux: a descriptor that only identifies a path and cannot be read (open(2)), so opening it never blocks. */
const O_PATH = 0o10000000;
/** Each takes a few runs of git. In further repositories only their `.gitignore` files apply. */
const MAX_REPOSITORIES = 24;

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

/** Returns the ignore rules for the folder at `path`; `fdPath` is another path to it. */
export type RulesFor = (path: string, fdPath: string) => Promise<IgnoreRules>;

/** Reads folders of one tree, each through the descriptor of the folder above, so that no link is ever followed. */
export class FolderWalk {
  readonly pause: WalkPause;
  readonly #top: OpenedDirectory;
  readonly #hasDescriptorPaths: boolean;
  readonly #rulesFor: RulesFor;
  readonly #showsHidden: boolean;
  readonly #open = new Set<number>();
  readonly #rules: IgnoreRules[] = [];
  /** Of the folders that were read. */
  readonly leftOut = new LeftOut();

  /** The caller must close `top`. */
  constructor(options: {
    readonly top: OpenedDirectory;
    readonly hasDescriptorPaths: boolean;
    readonly rulesFor: RulesFor;
    /** True to also show names that begin with a dot, except `.git`. */
    readonly showsHidden: boolean;
    readonly signal: AbortSignal;
  }) {
    this.#top = options.top;
    this.#hasDescriptorPaths = options.hasDescriptorPaths;
    this.#rulesFor = options.rulesFor;
    this.#showsHidden = options.showsHidden;
    this.pause = new WalkPause(options.signal);
  }

  /** Notes for the caller about the rules that were applied. */
  get notes(): readonly string[] {
    return this.#rules.flatMap(({ notes }) => notes);
  }

  async first(): Promise<WalkedFolder> {
    const fdPath = this.#top.entry('.');
    const rules = await this.#newRules(this.#top.path, fdPath);
    return this.#read({ relative: '', fdPath, fd: this.#top.handle.fd, rules, rulesBase: '' }, false);
  }

  /** Reads the folder `name` in `parent`; an unreadable one has a note instead of entries. */
  async below(parent: WalkedFolder, name: string): Promise<WalkedFolder> {
    const relative = parent.relative === '' ? name : `${parent.relative}/${name}`;
    const { rules, rulesBase } = parent;
    const opened = this.#opened(join(parent.fdPath, name));
    if ('note' in opened)
      return withoutEntries({ relative, fdPath: '', fd: undefined, rules, rulesBase }, opened.note);
    return this.#read({ relative, ...opened, rules, rulesBase }, true);
  }

  close(folder: WalkedFolder): void {
    if (folder.fd === undefined || !this.#open.delete(folder.fd)) return;
    closeSync(folder.fd);
  }

  /** Closes all descriptors that are still open. */
  end(): void {
    for (const fd of this.#open) closeSync(fd);
    this.#open.clear();
  }

  async #read(folder: Omit<WalkedFolder, 'entries' | 'note'>, isNested: boolean): Promise<WalkedFolder> {
    const { fdPath, fd } = folder;
    const localDev = this.#top.isLocal ? Number(this.#top.stats.dev) : undefined;
    const names = await namesIn({ fdPath, fd, localDev });
    if (this.pause.isDue()) await this.pause.wait();
    if ('error' in names) return withoutEntries(folder, `unreadable: ${names.error}`);
    let { rules, rulesBase } = folder;
    if (isNested && names.hasGit && isRepository(fdPath)) {
      if (rules.isGit) return withoutEntries(folder, 'repository');
      if (this.#rules.length < MAX_REPOSITORIES) {
        rules = await this.#newRules(join(this.#top.path, folder.relative), fdPath);
        if (rules.isGit) rulesBase = folder.relative;
        else rules = folder.rules;
      }
    }
    // git cannot list what is ignored here, since it would block on this file.
    if (rules.isGit && names.hasPipe) return withoutEntries(folder, 'its .gitignore is not a file');
    const shown = names.entries.filter(({ name }) => this.#showsHidden || !isHidden(name));
    const inRules = rulesBase === '' ? folder.relative : folder.relative.slice(rulesBase.length + 1);
    const ignored = await rules.ignored(inRules, shown, fdPath);
    if (rules.ignoresAll !== true) {
      this.leftOut.addHidden(names.entries.length - shown.length);
      this.leftOut.addIgnored(
        folder.relative,
        shown.filter(({ name }) => ignored.has(name)),
      );
    }
    const entries = ignored.size === 0 ? shown : shown.filter(({ name }) => !ignored.has(name));
    return { ...folder, rules, rulesBase, entries, note: undefined };
  }

  async #newRules(path: string, fdPath: string): Promise<IgnoreRules> {
    const rules = await this.#rulesFor(path, fdPath);
    this.#rules.push(rules);
    return rules;
  }

  #opened(
    fdPath: string,
  ): { readonly fdPath: string; readonly fd: number | undefined } | { readonly note: string } {
    const flags = this.#hasDescriptorPaths ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK;
    try {
      const fd = openSync(fdPath, flags | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      this.#open.add(fd);
      return { fdPath: this.#hasDescriptorPaths ? `/proc/self/fd/${fd}` : fdPath, fd };
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
      if (code === 'EACCES' || code === 'EPERM') return { note: `unreadable: ${code}` };
      return { note: fdPath.includes('\ufffd') ? 'its name is not UTF-8' : 'changed meanwhile' };
    }
  }
}

function withoutEntries(folder: Omit<WalkedFolder, 'entries' | 'note'>, note: string): WalkedFolder {
  return { ...folder, entries: [], note };
}
