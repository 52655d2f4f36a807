import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLive, liveNames, runsLater } from '../../src/projects/live-names.js';
import { nameMatcher } from '../../src/projects/name-list.js';
import { isSecret, secretNames } from '../../src/projects/secret-names.js';
import { rounds } from '../harness/rounds.js';

const PROJECT = '/home/me/p';
/** What file systems ignore within a name, or at its end. */
const IGNORED = ['\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufe0f', '\ufeff'];
const DROPPED = ['.', ' ', '. .'];
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/[a-z]/i, 'upper'],
  [/s/i, 'ſ'],
  [/k/i, '\u212a'],
  [/ss/i, 'ß'],
  [/fi/i, 'ﬁ'],
  [/e/i, 'ｅ'],
];

/** Another spelling of a name that some file system takes for the same. */
function disguised(name: string, picks: readonly number[]): string {
  const [where = 0, which = 0, spelling = 0, end = 0] = picks;
  const [letters, other] = SPELLINGS[spelling % SPELLINGS.length] ?? [/(?!)/, ''];
  const spelled = name.replace(letters, (text) => (other === 'upper' ? text.toUpperCase() : other));
  const at = where % (spelled.length + 1);
  const filled = spelled.slice(0, at) + (IGNORED[which % (IGNORED.length + 1)] ?? '') + spelled.slice(at);
  return filled + (DROPPED[end % (DROPPED.length + 1)] ?? '');
}

const lists = [
  ['a secret', secretNames, isSecret],
  ['a file that runs later', liveNames, runsLater],
] as const;

describe.each(lists)('the list of %s', (_name, list, isListed) => {
  const filled = (glob: string) => glob.replaceAll('*', 'x1');

  test('matches each of its files and folders at any depth, and everything in the folders', () => {
    const missed = [
      ...[...list.folders, ...list.files].flatMap((glob) => [filled(glob), `sub/deep/${filled(glob)}`]),
      ...list.folders.flatMap((glob) => [`${filled(glob)}/a/b.ts`, `sub/${filled(glob)}/c`]),
    ].filter((path) => !isListed(`${PROJECT}/${path}`, PROJECT));
    expect(missed).toEqual([]);
  });

  test('matches every spelling that a file system treats as the same', () => {
    const glob = fc.constantFrom(...list.folders, ...list.files);
    const picks = fc.array(fc.nat(), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(glob, picks, (name, numbers) => {
        const spelled = filled(name)
          .split('/')
          .map((part) => disguised(part, numbers))
          .join('/');
        expect(isListed(`${PROJECT}/sub/${spelled}`, PROJECT)).toBe(true);
      }),
      { numRuns: rounds(2_000) },
    );
  });

  test('does not count the folders above the project', () => {
    expect(isListed('/home/me/.config/gcloud/app/src/a.ts', '/home/me/.config/gcloud/app')).toBe(false);
    expect(isListed('/home/me/.config/gcloud/other/a.ts', '/home/me/.config/gcloud/app')).toBe(true);
  });
});

describe('a list of names', () => {
  test.each([
    ['.env.example', false],
    ['.env.example/.env', true],
    ['.ssh/.env.example', true],
    ['environment.ts', false],
    ['my.env', true],
    ['src/credentials.ts', false],
    ['pkg/credentials/aws.go', false],
    ['config/credentials', true],
    ['secrets/readme.md', true],
    ['src/secrets.ts', false],
    ['id_rsa.pub', false],
    ['keys/id_ed25519~', true],
    ['server.key.old', true],
    ['src/react.key.tsx', false],
    ['.environment', false],
    ['keys.md', false],
    ['.gitconfig', false],
    ['.git/config', true],
    ['git/config', false],
  ])('of secrets: %s is one: %s', (path, expected) => {
    expect(isSecret(`${PROJECT}/${path}`, PROJECT)).toBe(expected);
  });

  test.each([
    ['package.json', false],
    ['Makefile', false],
    ['.gitignore', true],
    ['docs/claude.md.txt', false],
    ['docs/Claude.md', true],
    ['.claude/worktrees/task_1/src/a.ts', false],
    ['.claude/worktrees/task_1/.envrc', true],
    ['.claude/worktrees/.gitignore', true],
    ['.husky/.claude/worktrees/x/pre-commit', true],
    ['.claude/worktrees/a/.claude/hooks/c.sh', true],
    ['.claude/worktreesx/a/b.ts', true],
  ])('of files that run later: %s is one: %s', (path, expected) => {
    expect(isLive(path)).toBe(expected);
    // A worktree below the folder of a task is none of its own.
    expect(runsLater(`${PROJECT}/${path}`, PROJECT)).toBe(expected || path.startsWith('.'));
  });

  test('that is empty matches nothing', () => {
    expect(nameMatcher({ folders: [], files: [] })('a/b')).toBe(false);
    expect(nameMatcher({ folders: [], files: [] })('')).toBe(false);
  });
});
