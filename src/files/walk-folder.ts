import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import type { OpenedDirectory } from '../projects/opened-path.js';
import { namesIn } from './folder-names.js';
import type { IgnoreRules } from './ignored-names.js';
import type { FolderNames, KeptNames } from './kept-names.js';
import { OrderedEntries } from './ordered-entries.js';
import type { WalkEntry } from './walk-entry.js';
import { WalkPause } from './walk-pause.js';

/** Linux: a descriptor that only names a place (open(2)); nothing is read by it, and no pipe waits. */
const O_PATH = 0o10000000;
/** Each may be a process of git; what lies in further repositories follows the files' own rules. */
const MAX_REPOSITORIES = 24;

/** A folder that was read. Its descriptor stays open for its subfolders until it is closed. */
export interface WalkedFolder {
  /** `''` for the first one, else `a/b`. */
  readonly relative: string;
  /** Leads to this very folder, whatever is put in its place. */
  readonly place: string;
  readonly fd: number | undefined;
  /** What may be shown, in order. */
  readonly entries: OrderedEntries<WalkEntry>;
  /** Why it has no entries, when there is a reason but emptiness. */
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
  readonly #kept: KeptNames;
  readonly #open = new Set<number>();
  readonly #rules: IgnoreRules[] = [];
  #topRules: Promise<IgnoreRules> | undefined;
  #isOver = false;

  /** `top` stays the caller's. */
  constructor(options: {
    readonly top: OpenedDirectory;
    readonly hasDescriptorPaths: boolean;
    readonly rulesFor: RulesFor;
    readonly kept: KeptNames;
    readonly signal: AbortSignal;
  }) {
    this.#top = options.top;
    this.#hasDescriptorPaths = options.hasDescriptorPaths;
    this.#rulesFor = options.rulesFor;
    this.#kept = options.kept;
    this.pause = new WalkPause(options.signal);
  }

  /** Leads to the first folder itself. */
  get topPlace(): string {
    return this.#top.entry('.');
  }

  /** What is ignored from the first folder on. */
  rules(): Promise<IgnoreRules> {
    this.#topRules ??= this.#newRules(this.#top.path, this.topPlace);
    return this.#topRules;
  }

  async first(): Promise<WalkedFolder> {
    const place = this.#top.entry('.');
    const { fd } = this.#top.handle;
    const reading = this.#names(place, fd);
    const making = this.rules();
    // Whichever fails: nothing reads the folder any more when its owner closes it.
    await Promise.allSettled([reading, making]);
    return this.#shown({ relative: '', place, fd, rules: await making, rulesBase: '' }, await reading, false);
  }

  /** The folder `name` in `parent`; what cannot be read has a note instead of entries. */
  async below(parent: WalkedFolder, name: string): Promise<WalkedFolder> {
    const relative = parent.relative === '' ? name : `${parent.relative}/${name}`;
    const { rules, rulesBase } = parent;
    const opened = this.#opened(join(parent.place, name));
    if (opened.note !== undefined) {
      return {
        relative,
        place: '',
        fd: undefined,
        entries: noEntries(),
        note: opened.note,
        rules,
        rulesBase,
      };
    }
    const { place, fd } = opened;
    return this.#shown({ relative, place, fd, rules, rulesBase }, await this.#names(place, fd), true);
  }

  close(folder: WalkedFolder): void {
    if (folder.fd === undefined || !this.#open.delete(folder.fd)) return;
    closeSync(folder.fd);
  }

  /** Resolves when nothing is open and nothing runs any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const fd of this.#open) closeSync(fd);
    this.#open.clear();
    await Promise.all(this.#rules.map((rules) => rules.close()));
  }

  #names(place: string, fd: number | undefined): Promise<FolderNames | { readonly fault: string }> {
    const nearDev = this.#top.isNear ? Number(this.#top.stats.dev) : undefined;
    return namesIn({ place, fd, nearDev, pause: this.pause }, this.#kept);
  }

  async #shown(
    folder: Omit<WalkedFolder, 'entries' | 'note'>,
    names: FolderNames | { readonly fault: string },
    isNested: boolean,
  ): Promise<WalkedFolder> {
    if ('fault' in names) return { ...folder, entries: noEntries(), note: `unreadable: ${names.fault}` };
    const { entries, isOrdered, isRepository, hasTrap } = names;
    let { rules, rulesBase } = folder;
    if (isNested && isRepository) {
      if (rules.isGit) return { ...folder, entries: noEntries(), note: 'repository' };
      if (this.#rules.length < MAX_REPOSITORIES) {
        rules = await this.#newRules(join(this.#top.path, folder.relative), folder.place);
        if (rules.isGit) rulesBase = folder.relative;
        else rules = folder.rules;
      }
    }
    // git would wait for this file for ever.
    if (rules.isGit && hasTrap)
      return { ...folder, entries: noEntries(), note: 'its .gitignore is not a file' };
    const inRules = rulesBase === '' ? folder.relative : folder.relative.slice(rulesBase.length + 1);
    const hidden = await rules.ignored(inRules, entries, folder.place);
    const shown = hidden.size === 0 ? entries : entries.filter(({ name }) => !hidden.has(name));
    if (this.pause.isDue()) await this.pause.wait();
    return { ...folder, rules, rulesBase, entries: new OrderedEntries(shown, isOrdered), note: undefined };
  }

  async #newRules(path: string, place: string): Promise<IgnoreRules> {
    const rules = await this.#rulesFor(path, place);
    // The walk may be over by now.
    if (this.#isOver) await rules.close();
    else this.#rules.push(rules);
    return rules;
  }

  #opened(
    place: string,
  ):
    | { readonly place: string; readonly fd: number | undefined; readonly note?: undefined }
    | { readonly note: string } {
    if (this.#isOver) return { note: 'the listing is over' };
    const way = this.#hasDescriptorPaths ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK;
    try {
      const fd = openSync(place, way | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      this.#open.add(fd);
      return { place: this.#hasDescriptorPaths ? `/proc/self/fd/${fd}` : place, fd };
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code === undefined || code === 'EMFILE' || code === 'ENFILE') throw thrown;
      return { note: code === 'EACCES' || code === 'EPERM' ? `unreadable: ${code}` : 'changed meanwhile' };
    }
  }
}

function noEntries(): OrderedEntries<WalkEntry> {
  return new OrderedEntries<WalkEntry>([]);
}
