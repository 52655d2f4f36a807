import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../harness/temp-folder.js';
import { explorerOf, git, never, writeTree } from '../../files/explorer.js';

test.each(['.gitignore', 'sub/.gitignore', '.ignore', '.git/info/exclude'])(
  'a search in a project whose %s has no end is answered, in bounded memory',
  async (name) => {
    const root = await tempFolder();
    await git(root, 'init', '-q', '--template=');
    await writeTree(root, { x: 'foo' });
    await mkdir(dirname(join(root, name)), { recursive: true });
    await symlink('/dev/zero', join(root, name));
    // Without the bound ripgrep would take all of the machine's memory, and be ended by the kernel.
    const page = await explorerOf(root).search({ path: root, query: 'foo' }, never);
    expect(page.matches).toMatchObject([{ path: 'x' }]);
  },
);
