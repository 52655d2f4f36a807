// Pure: lists of file names as data, and the one matcher for them.

/** Globs of names; `*` stands for any text within one name. One with `/` names the folders above it, too. */
export interface NameGlobs {
  /** A folder of such a name, and everything below it. */
  readonly folders: readonly string[];
  /** A file of such a name, in any folder. */
  readonly files: readonly string[];
  /** Files that are not meant, although a glob above fits. */
  readonly except?: readonly string[];
}

/** True when the list names the path, or a folder above it. `path`: names joined by `/`, relative or absolute. */
export type NameMatcher = (path: string) => boolean;

/** Characters that some file systems ignore in names, so that `.g<ZWNJ>it` opens `.git` (CVE-2014-9390). */
const IGNORED_CHARACTERS = /\p{Default_Ignorable_Code_Point}/gu;
/** FAT and the file systems of Windows drop these at the end of a name. */
const DROPPED_AT_THE_END = /[. ]+$/;

/** The matcher of a list. Case, and what some file system ignores in a name, make no difference. */
export function nameMatcher({ folders, files, except = [] }: NameGlobs): NameMatcher {
  const isListed = new RegExp(
    `(?:^|/)(?:${expressions(folders)}/|(?:${expressions([...folders, ...files])})$)`,
  );
  const isExcepted = new RegExp(`(?:^|/)${expressions(except)}$`);
  const isBelowFolder = new RegExp(`(?:^|/)${expressions(folders)}(?:/|$)`);
  return (path) => {
    const plain = plainPath(path);
    return isListed.test(plain) && (isBelowFolder.test(plain) || !isExcepted.test(plain));
  };
}

/** A path as the most forgiving file system sees it; two that are the same there are the same text. */
export function plainPath(path: string): string {
  return path.split('/').map(plainName).join('/');
}

/** A name as the most forgiving file system sees it: without case, compatible letters and ignored characters. */
function plainName(name: string): string {
  const letters = name.normalize('NFKC').replace(IGNORED_CHARACTERS, '');
  // By way of upper case: a sharp s is the same as two of them where case is ignored.
  const folded = letters.toUpperCase().toLowerCase();
  return folded === '.' || folded === '..' ? folded : folded.replace(DROPPED_AT_THE_END, '');
}

function expressions(globs: readonly string[]): string {
  // An empty list fits nothing.
  if (globs.length === 0) return '(?!)';
  const sources = globs.map((glob) =>
    glob
      .toLowerCase()
      .split('*')
      .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^/]*'),
  );
  return `(?:${sources.join('|')})`;
}
