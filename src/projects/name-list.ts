// Pure: the type of lists of file names, and their matcher.

/** Globs of names; `*` matches any text within one name. A glob with `/` also names the folders above. */
export interface NameGlobs {
  /** A folder with such a name, and everything below it. */
  readonly folders: readonly string[];
  /** A file with such a name, in any folder. */
  readonly files: readonly string[];
  /** Files that do not count, although a glob of `files` matches them. */
  readonly except?: readonly string[];
}

/** True when the list names the path or a folder above it. `path` is relative or absolute, with `/` as separator. */
export type NameMatcher = (path: string) => boolean;

/** Characters that some file systems ignore in names, so that `.g<ZWNJ>it` opens `.git` (CVE-2014-9390). */
const IGNORED_CHARACTERS = /\p{Default_Ignorable_Code_Point}/gu;
/** FAT and Windows file systems drop these at the end of a name. */
const DROPPED_AT_THE_END = /[. ]+$/;
/** A path without any of these differs only in the case of letters. */
const NORMALIZED = /[^\0-\u007f]|[. ](?:\/|$)/;

/** Creates the matcher of a list. It ignores case and everything else that some file system ignores in a name. */
export function nameMatcher({ folders, files, except = [] }: NameGlobs): NameMatcher {
  const isListed = new RegExp(`(?:^|/)(?:${expressions(folders)}(?:/|$)|${expressions(files)}$)`);
  const isExcepted = new RegExp(`(?:^|/)${expressions(except)}$`);
  const isBelowFolder = new RegExp(`(?:^|/)${expressions(folders)}(?:/|$)`);
  return (path) => {
    const plain = plainPath(path);
    return isListed.test(plain) && (isBelowFolder.test(plain) || !isExcepted.test(plain));
  };
}

/** Normalizes a path: two paths that are the same on some file system become the same text. */
export function plainPath(path: string): string {
  return NORMALIZED.test(path) ? path.split('/').map(plainName).join('/') : path.toLowerCase();
}

/** Normalizes a name: folds case and compatible letters, removes ignored characters. */
function plainName(name: string): string {
  const letters = name.normalize('NFKC').replace(IGNORED_CHARACTERS, '');
  // Upper case first: case-insensitive file systems treat ß as ss.
  const folded = letters.toUpperCase().toLowerCase();
  return folded === '.' || folded === '..' ? folded : folded.replace(DROPPED_AT_THE_END, '');
}

function expressions(globs: readonly string[]): string {
  const sources = globs.map((glob) => glob.toLowerCase().replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const all = sources.filter((source) => !source.startsWith('*'));
  // All endings together, since a search for one takes as many steps as a name has letters.
  const endings = sources.filter((source) => source.startsWith('*')).map((source) => source.slice(1));
  if (endings.length > 0) all.push(`*(?:${endings.join('|')})`);
  // An empty list matches nothing.
  return all.length === 0 ? '(?!)' : `(?:${all.join('|')})`.replaceAll('*', '[^/]*');
}
