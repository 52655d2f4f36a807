import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { readRegularFile } from '../base/regular-file.js';
import { ignorePattern, type IgnorePattern } from './ignored-pattern.js';
import type { IgnoreRules, NameInFolder } from './ignored-names.js';

/** Far more than a person writes; a larger one is taken as not there. */
const MAX_FILE_BYTES = 256 * 1024;
/** Each is tried on each name. */
const MAX_PATTERNS = 5_000;

/** Folders above the one that is listed, nearest last: their ignore files hold too. */
export interface FolderAbove {
  readonly path: string;
  /** The listed folder, relative to `path`, with a slash at its end. */
  readonly prefix: string;
}

interface RuleFile {
  /** The folder of the file, as a prefix of the paths below it: `''` or `a/b/`. */
  readonly depth: number;
  readonly prefix: string;
  readonly patterns: readonly IgnorePattern[];
}

/** The rules of `.gitignore` files where there is no repository that git could be asked about. */
export class RulesOfFiles implements IgnoreRules {
  readonly isGit = false;
  readonly #above: readonly FolderAbove[];
  readonly #files = new Map<string, Promise<readonly RuleFile[]>>();

  constructor(above: readonly FolderAbove[]) {
    this.#above = above;
  }

  async ignored(
    folder: string,
    names: readonly NameInFolder[],
    folderPath: string,
  ): Promise<ReadonlySet<string>> {
    const files = await this.#filesFor(folder, folderPath);
    const hidden = new Set<string>();
    if (files.length === 0) return hidden;
    for (const entry of names) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isIgnored(files, path, entry)) hidden.add(entry.name);
    }
    return hidden;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#files.values());
  }

  /** The files that hold in `folder`, nearest first. The folder above was asked for before. */
  #filesFor(folder: string, folderPath: string): Promise<readonly RuleFile[]> {
    const known = this.#files.get(folder);
    if (known !== undefined) return known;
    const reading = this.#read(folder, folderPath);
    this.#files.set(folder, reading);
    return reading;
  }

  async #read(folder: string, folderPath: string): Promise<readonly RuleFile[]> {
    const own = await patternsIn(folderPath);
    const prefix = folder === '' ? '' : `${folder}/`;
    const file = { depth: prefix.length, prefix: '', patterns: own };
    const outer =
      folder === ''
        ? await this.#readAbove()
        : ((await this.#files.get(folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '')) ??
          []);
    return own.length === 0 ? outer : [file, ...outer];
  }

  async #readAbove(): Promise<readonly RuleFile[]> {
    const files = await Promise.all(
      this.#above.map(async ({ path, prefix }) => ({ depth: 0, prefix, patterns: await patternsIn(path) })),
    );
    return files.filter(({ patterns }) => patterns.length > 0).reverse();
  }
}

/** The nearest file decides, in it the last pattern. */
function isIgnored(files: readonly RuleFile[], path: string, entry: NameInFolder): boolean {
  for (const { depth, prefix, patterns } of files) {
    const relative = prefix + path.slice(depth);
    for (let index = patterns.length - 1; index >= 0; index--) {
      const pattern = patterns[index];
      if (pattern === undefined || (pattern.foldersOnly && !entry.isFolder)) continue;
      if (pattern.matches(relative, entry.name)) return !pattern.isNegated;
    }
  }
  return false;
}

async function patternsIn(folderPath: string): Promise<readonly IgnorePattern[]> {
  const path = join(folderPath, '.gitignore');
  try {
    // A pipe, a device, a folder or a link of that name holds no rules; git follows no link here either.
    // At once: its folder was opened this very moment, and most have none.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
    const read = await readRegularFile(path, MAX_FILE_BYTES);
    if (read.state !== 'ok') return [];
    const text = read.bytes.toString('utf8').replace(/^\ufeff/, '');
    return text
      .split('\n', MAX_PATTERNS)
      .map(ignorePattern)
      .filter((pattern) => pattern !== undefined);
  } catch (thrown) {
    // Unreadable rules hide nothing, as in git.
    if (systemCodeOf(thrown) !== undefined) return [];
    throw thrown;
  }
}
