import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../harness/temp-folder.js';
import { gitIn, writeFiles } from '../../harness/project-files.js';
import { verdictOfEdit } from '../../keeper/verdict-of-edit.js';

test.each([
  ['what an included file includes, missing as it is', 'ask', '.', 'a/more.cfg'],
  ['a word in quotes', 'ask', '.', 'b/quoted.sh'],
  ['a script at the top of the repository', 'ask', 'pkg', 'pkg/c.sh'],
  ['an alias', 'ask', '.', 'd/alias.sh'],
  ['a worktree of another session', 'ask', '.', '.claude/worktrees/other/src/a.ts'],
  ['what a link with a dot leads to', 'ask', '.', 'docs/mcp.json'],
  ['what a person trusts', 'ask', '.', 'tools/hook.sh'],
  ['other code', 'allow', '.', 'src/a.ts'],
])('an edit of %s in a careful task: %s', async (_kind, expected, folder, file) => {
  const top = await tempFolder();
  gitIn(top, 'init', '--quiet');
  await writeFiles(top, {
    'a/gitconfig': '[include]\n\tpath = more.cfg\n',
    'docs/mcp.json': '{}',
    'pkg/x': '',
  });
  await symlink('docs/mcp.json', join(top, '.mcp.json'));
  for (const [name, value] of Object.entries({
    'include.path': '../a/gitconfig',
    'filter.f.clean': 'sh -c "b/quoted.sh %f"',
    'filter.g.process': 'sh pkg/c.sh',
    'alias.d': '!d/alias.sh',
  }))
    gitIn(top, 'config', name, value);
  expect(await verdictOfEdit(join(top, folder), join(top, file), [join(top, 'tools')])).toBe(expected);
});
