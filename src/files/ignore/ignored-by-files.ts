import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { systemCodeOf } from '../../base/errors.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { oneLine } from '../../base/text.js';
import { WalkPause } from './walk-pause.js';
import { alwaysIgnoredBy } from './always-ignored.js';
import { MAX_RULES_BYTES } from './git-above.js';
import type { IgnoreRules, NameInFolder } from './ignore-rules.js';
import { isSlowPattern } from './slow-pattern.js';

/** Bounds the patterns of a file, since each is matched against each name. */
const MAX_PATTERNS = 1_000;
/** Left-out patterns that a note names; the others are only counted. */
const MAX_NAMED = 5;
const SHOWN_CHARS = 60;
/** As git matches. */
const RULE_OPTIONS = { ignorecase: false, allowRelativePaths: true };

/** A folder above the listed one, whose ignore file applies, too. */
export interface FolderAbove {
  readonly path: string;
  /** The listed folder relative to `path`, with a final slash. */
  readonly prefix: string;
}

interface RuleFile {
  /** Length of the file's folder as a path prefix: `''` or `a/b/`. */
  readonly depth: number;
  /** For a file above the listed folder: the prefix to add to paths. */
  readonly prefix: string;
  readonly rules: Ignore;
}

/** The rules of `.gitignore` files outside repositories. */
export class RulesOfFiles implements IgnoreRules {
  readonly isGit = false;
  readonly #above: readonly FolderAbove[];
  readonly #hidesAlways: boolean;
  readonly #pause: WalkPause;
  readonly #files = new Map<string, Promise<readonly RuleFile[]>>();
  readonly #leftOut: string[] = [];

  /** `hidesAlways` is true to also hide ALWAYS_IGNORED. */
  constructor(above: readonly FolderAbove[], hidesAlways: boolean, signal: AbortSignal) {
    this.#above = above;
    this.#pause = new WalkPause(signal);
    this.#hidesAlways = hidesAlways;
  }

  get notes(): readonly string[] {
    if (this.#leftOut.length === 0) return [];
    const named = this.#leftOut.slice(0, MAX_NAMED).map((pattern) => oneLine(pattern, SHOWN_CHARS));
    const more = this.#leftOut.length - named.length;
    return [
      `ignore patterns left out, because they could take too long to match: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    ];
  }

  async ignored(
    folder: string,
    names: readonly NameInFolder[],
    folderPath: string,
  ): Promise<ReadonlySet<string>> {
    const files = await this.#filesFor(folder, folderPath);
    const hidden = new Set<string>();
    if (this.#hidesAlways)
      for (const { name } of names) if (alwaysIgnoredBy(name) !== undefined) hidden.add(name);
    if (files.length === 0) return hidden;
    const above = folder === '' ? '' : `${folder}/`;
    for (const { name, isFolder } of names) {
      if (this.#pause.isDue()) await this.#pause.wait();
      if (isIgnored(files, `${above}${name}${isFolder ? '/' : ''}`)) hidden.add(name);
    }
    return hidden;
  }

  /** The files that apply in `folder`, nearest first. Its parent must have been requested before. */
  #filesFor(folder: string, folderPath: string): Promise<readonly RuleFile[]> {
    const known = this.#files.get(folder);
    if (known !== undefined) return known;
    const reading = this.#read(folder, folderPath);
    this.#files.set(folder, reading);
    return reading;
  }

  async #read(folder: string, folderPath: string): Promise<readonly RuleFile[]> {
    const rules = await this.#rulesIn(folderPath);
    const outer =
      folder === ''
        ? await this.#readAbove()
        : ((await this.#files.get(folder.slice(0, Math.max(0, folder.lastIndexOf('/'))))) ?? []);
    if (rules === undefined) return outer;
    return [{ depth: folder === '' ? 0 : folder.length + 1, prefix: '', rules }, ...outer];
  }

  async #readAbove(): Promise<readonly RuleFile[]> {
    const files: RuleFile[] = [];
    for (const { path, prefix } of this.#above) {
      const rules = await this.#rulesIn(path);
      if (rules !== undefined) files.unshift({ depth: 0, prefix, rules });
    }
    return files;
  }

  async #rulesIn(folderPath: string): Promise<Ignore | undefined> {
    const used: string[] = [];
    for (const line of await linesIn(folderPath, this.#leftOut))
      (used.length < MAX_PATTERNS && !isSlowPattern(line) ? used : this.#leftOut).push(line);
    return used.length === 0 ? undefined : ignore(RULE_OPTIONS).add(used.map(bytesAsText));
  }
}

/** Each byte as one character, since `?` and sets match one byte in git. */
function bytesAsText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The nearest file with a matching rule decides. The folder of `path` is shown, even where a file farther up ignores it. */
function isIgnored(files: readonly RuleFile[], path: string): boolean {
  for (const { depth, prefix, rules } of files) {
    const below = bytesAsText(prefix + path.slice(depth));
    const folder = below.slice(0, below.lastIndexOf('/', below.length - 2) + 1);
    const applied = folder !== '' && rules.test(folder).ignored ? withFolderShown(rules, folder) : rules;
    const { ignored, unignored } = applied.test(below);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** The package takes everything in an ignored folder for ignored, so the folder and those above it get rules that show them. */
function withFolderShown(rules: Ignore, folder: string): Ignore {
  const names = folder.slice(0, -1).split('/');
  const shown = names.map((_, index) => {
    const path = names.slice(0, index + 1).join('/');
    return `!/${path.replace(/[^\w/]/g, '\\$&')}/`;
  });
  return ignore(RULE_OPTIONS).add(rules).add(shown);
}

async function linesIn(folderPath: string, leftOut: string[]): Promise<string[]> {
  const path = join(folderPath, '.gitignore');
  try {
    // Anything but a regular file has no rules; git does not follow a link here either.
    // Synchronous: the folder was just opened, and most folders have no such file.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
    const read = await readRegularFile(path, MAX_RULES_BYTES);
    if (read.state === 'refused') leftOut.push(`all of .gitignore (${read.why})`);
    if (read.state !== 'ok') return [];
    const text = read.bytes.toString('utf8').replace(/^\ufeff/, '');
    return text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  } catch (thrown) {
    // As in git, an unreadable file hides nothing.
    if (systemCodeOf(thrown) !== undefined) return [];
    throw thrown;
  }
}
