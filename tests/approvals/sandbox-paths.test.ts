import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkHeld, sandboxPaths } from '../../src/approvals/sandbox-paths.js';
import { tempFolder } from '../harness/temp-folder.js';

describe('the paths that a sandbox protects from commands', () => {
  let root: string;
  let project: string;

  beforeEach(async () => {
    root = await tempFolder();
    project = join(root, 'p');
  });

  async function make(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await mkdir(dirname(join(project, name)), { recursive: true });
      await writeFile(join(project, name), '');
    }
  }

  test('secrets and what runs later are found in every folder, and the folders above are pinned', async () => {
    await make('a/b/.env', 'a/CLAUDE.md', 'src/index.ts', '.git/config', 'sub/.git/config', 'module/.git');
    await make('node_modules/x/.npmrc', '.claude/worktrees/w/CLAUDE.md', 'odd[1].key');
    await make('.claude/sub/.env', '.claude/mcp-logs/task_1.log');
    const { denyRead, denyWrite, pinned } = await sandboxPaths(project, join(root, 'home'));
    const at = (...names: string[]) => names.map((name) => join(project, name));
    expect(denyRead).toEqual(
      expect.arrayContaining(at('a/b/.env', '.env', 'odd?1?.key', '.claude/sub/.env')),
    );
    expect(denyRead).toContain(join(root, 'home', '.ssh'));
    expect(denyWrite).toEqual(
      expect.arrayContaining([
        ...at('a/CLAUDE.md', 'CLAUDE.md', '.git/config', 'sub/.git/config', 'module/.git'),
        ...at('.git/hooks', 'sub/.git/hooks', '.git/modules', '.git/commondir'),
        ...at('.claude/worktrees', '.claude/mcp-logs', '.claude/sub'),
      ]),
    );
    expect(denyWrite).not.toContain(join(project, '.git'));
    expect(pinned.toSorted()).toEqual(
      at('.claude', '.git', 'a', 'a/b', 'module', 'sub', 'sub/.git').toSorted(),
    );
    expect([...denyRead, ...denyWrite].filter((path) => path.includes('node_modules'))).toEqual([]);
  });

  test('the user’s secrets are found at the top of the home directory and in the folders of programs', async () => {
    const home = join(root, 'home');
    const names = [
      ...['.bash_history', 'mykey.pem', '.env.production', '.claude/.credentials.json', '.m2/settings.xml'],
      ...['.cargo/credentials.toml', '.local/share/keyrings/login', '.config/gh/hosts.yml', 'notes.txt'],
    ];
    const logs = ['.claude/debug', 'other/debug', '.npm/_logs'];
    const others = ['other/.credentials.json', 'other/notes.txt', ...logs.map((name) => `${name}/a.txt`)];
    for (const name of [...names, ...others]) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), '');
    }
    const { denyRead, denyWrite } = await sandboxPaths(project, home, { userFolder: join(home, 'other') });
    expect(denyWrite).toEqual(expect.arrayContaining(logs.map((name) => join(home, name))));
    const held = (name: string) => denyRead.some((path) => join(home, name).startsWith(path));
    expect(names.filter((name) => !held(name))).toEqual(['notes.txt']);
    expect([held('other/.credentials.json'), held('other/notes.txt')]).toEqual([true, false]);
  });

  test('for a worktree the secrets of its original project are protected, too', async () => {
    await make('deep/er/x.pem', '.claude/worktrees/w/own.key', '.claude/worktrees/other/own.key');
    const worktree = join(project, '.claude', 'worktrees', 'w');
    const { denyRead, pinned } = await sandboxPaths(worktree, join(root, 'home'), { madeFrom: project });
    const at = (...names: string[]) => names.map((name) => join(project, name));
    expect(denyRead).toEqual(expect.arrayContaining(at('deep/er/x.pem', '.claude/worktrees/w/own.key')));
    // What is missing there is not held: the paths that a sandbox can take are few.
    expect(denyRead).not.toContain(join(project, '.env'));
    expect(denyRead).not.toContain(join(project, '.claude/worktrees/other/own.key'));
    expect(pinned).toEqual([]);
  });

  test.each(['*', '?', '[', ']'])(
    'a path that commands must not write, with %s in its name, is refused',
    async (char) => {
      await make('plain/CLAUDE.md');
      const check = async () => checkHeld((await sandboxPaths(project, join(root, 'home'))).denyWrite);
      await check();
      await make(`a${char}b/CLAUDE.md`);
      await expect(check()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    },
  );

  test('more paths than a sandbox can list are refused, not shortened', async () => {
    await make(...Array.from({ length: 400 }, (_, index) => `folder-with-a-name-${index}/CLAUDE.md`));
    await expect(sandboxPaths(project, root)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });
});
