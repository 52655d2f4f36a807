import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import type { WorkTree } from '../../git/worktree/work-tree.js';
import type { IgnoreRules } from './ignore-rules.js';

const SHOWN_CHARS = 300;

/**
 * The rules of a repository, and more patterns in `excludes`, options of git. git lists the ignored files once, without tracked
 * ones; a folder with only ignored files is listed as one entry. If git fails, `byFiles` decides about untracked files, and about
 * all files outside a repository and where git cannot read the repository.
 */
export async function rulesOfGit(
  treeAt: () => Promise<WorkTree | undefined>,
  excludes: readonly string[],
  byFiles: () => Promise<IgnoreRules>,
): Promise<IgnoreRules> {
  let tree: WorkTree | undefined;
  try {
    tree = await treeAt();
    if (tree === undefined) return await byFiles();
    if ((await tree.isIgnored()) && (await tree.files('-c')).size === 0) return allIgnored;
    const hidden = await tree.files('-o', '-i', '--exclude-standard', ...excludes, '--directory');
    return {
      isGit: true,
      notes: [],
      ignored: async (folder, names) => {
        const prefix = folder === '' ? '' : `${folder}/`;
        return new Set(
          names
            .filter(({ name, isFolder }) => hidden.has(`${prefix}${name}${isFolder ? '/' : ''}`))
            .map(({ name }) => name),
        );
      },
    };
  } catch (thrown) {
    if (!(thrown instanceof BridgeError)) throw thrown;
    return rulesOfFilesOnly(await byFiles(), tree && (await trackedOf(tree)), thrown.message);
  }
}

/** For an ignored folder without tracked files. */
const allIgnored: IgnoreRules = {
  isGit: true,
  notes: ['git ignores this folder; ignored: true shows its contents'],
  ignoresAll: true,
  ignored: (_folder, names) => Promise.resolve(new Set(names.map(({ name }) => name))),
};

/** The tracked files and the folders above them; empty if git cannot list these either. */
async function trackedOf(tree: WorkTree): Promise<ReadonlySet<string>> {
  const tracked = new Set<string>();
  try {
    for (const path of await tree.files('-c'))
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
        tracked.add(path.slice(0, end));
  } catch (thrown) {
    // The note already says that git failed.
    if (!(thrown instanceof BridgeError)) throw thrown;
  }
  return tracked;
}

/** `tracked` is undefined where git cannot read the repository: it is shown like any folder then. */
function rulesOfFilesOnly(
  rules: IgnoreRules,
  tracked: ReadonlySet<string> | undefined,
  why: string,
): IgnoreRules {
  const note = `git could not list what it ignores, so only .gitignore files were applied: ${oneLine(why, SHOWN_CHARS)}`;
  return {
    isGit: tracked !== undefined,
    get notes() {
      return [note, ...rules.notes];
    },
    ignored: async (folder, names, folderPath) => {
      const hidden = await rules.ignored(folder, names, folderPath);
      const isTracked = (name: string): boolean =>
        tracked?.has(folder === '' ? name : `${folder}/${name}`) ?? false;
      return new Set([...hidden].filter((name) => !isTracked(name)));
    },
  };
}
