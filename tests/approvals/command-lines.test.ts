import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dangerousLines, readingLines } from './command-lines.js';
import { judgeLine, row, shellProject } from './shell-project.js';

let folder = '';
let project = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lines-'));
  project = await shellProject(folder);
});
afterAll(() => rm(folder, { recursive: true }));

const allLines = [...readingLines, ...dangerousLines];

describe('command lines without rules in the settings', () => {
  test.each(allLines)('%j is allowed in mode auto, and asked about in mode cautious', async (line) => {
    expect((await judgeLine(project, line, 'auto')).verdict).toBe('allow');
    const judged = await judgeLine(project, line, 'cautious');
    expect(judged.verdict).toBe('ask');
    expect(judged.reason).not.toBe('');
  });
});

describe('command lines with rules in the settings', () => {
  const rules = [
    row('Bash(git diff *)', 'allow'),
    row('Bash(npm run test *)', 'allow'),
    row('Bash(ls *)', 'allow'),
    row('Bash(cat *)', 'allow'),
  ];

  test.each(dangerousLines)(
    'rules that allow ls, cat, git diff and npm run test do not allow %j',
    async (line) => {
      const { verdict } = await judgeLine(project, line, 'cautious', rules);
      // A line of nothing but what a rule names, `cat .env` for instance, is the user's own choice.
      expect(verdict === 'allow' && !isPlain(line)).toBe(false);
    },
  );

  test.each([
    'rm -rf src',
    'ls; rm -rf src',
    'ls && rm -rf src',
    'ls\nrm -rf src',
    'ls & rm -rf src',
    '(ls; rm -rf src)',
    'if ls; then rm -rf src; fi',
    'ls $(rm -rf src)',
    'ls "$(rm -rf src)"',
    'ls `rm -rf src`',
    'cat <(rm -rf src)',
    'echo ${x:-$(rm -rf src)}',
    'echo $(( $(rm -rf src) + 1 ))',
    'cat <<END\n$(rm -rf src)\nEND',
    'FOO=1 rm -rf src',
    'r"m" -rf src',
    "'rm' -rf src",
    'r\\m -rf src',
    "$'\\x72m' -rf src",
    '/bin/rm -rf src',
    'RM -rf src',
    'rm -rf "$X"',
    'sudo rm -rf src',
    'sudo -u me -- rm -rf src',
    'env -i A=1 rm -rf src',
    'timeout -k 5 10 rm -rf src',
    'timeout --strange-option 10 rm -rf src',
    'nohup nice -n 3 rm -rf src',
    'command rm -rf src',
    'exec rm -rf src',
    'busybox rm -rf src',
    'sh -c "rm -rf src"',
    'bash -lc \'sh -c "rm -rf src"\'',
    'eval "rm -rf src"',
    'eval rm -rf src',
    'xargs rm < package.json',
    'ls | xargs -I{} rm {}',
    'find . -exec rm {} +',
    "find . -exec sh -c 'rm -rf src' \\;",
    "trap 'rm -rf src' EXIT",
    'alias ls="rm -rf src"',
    'ls() { rm -rf src; }',
    "git -c alias.x='!rm -rf src' x",
    'watch "rm -rf src"',
    'for f in a; do rm -rf src; done',
    'coproc rm -rf src',
    'repeat 3 rm -rf src',
    'noglob rm -rf src',
    'nocorrect rm -rf src',
    '- rm -rf src',
  ])('a rule that denies rm finds it in %j, in both modes', async (line) => {
    for (const mode of ['auto', 'cautious'] as const) {
      const judged = await judgeLine(project, line, mode, [row('Bash(rm *)', 'deny'), row('Bash', 'allow')]);
      expect(judged).toMatchObject({ verdict: 'deny', rule: 'Bash(rm *)', reason: 'because of Bash(rm *)' });
    }
  });

  test.each([
    '$COMMAND -rf src',
    'eval "$X"',
    'sh -c "$X"',
    'cat x | sh',
    'ls "',
    'ls\u0000',
    '${x}m -rf',
    'ssh host rm',
    "for x in 'a[$(rm x)]'; do case $((x)) in *) true;; esac; done",
    '(( y = x ))',
    "x='$(rm x)'; echo ${x@P}",
    'echo ${(e)x}',
    "echo *(e:'rm x':)",
    "ls src/*(e:'rm x':)",
    'cat =(rm x)',
    'cat <=(rm x)',
    '=rm x',
    "echo $+path['$(rm x)']",
    "printf %d 'path[$(rm x)]'",
    "test -v 'a[$(rm x)]'",
    'for x (a) rm x',
  ])('a rule that denies rm makes %j asked in mode auto, since it may run rm', async (line) => {
    expect(await judgeLine(project, line, 'auto', [row('Bash(rm *)', 'deny')])).toMatchObject({
      verdict: 'ask',
      rule: 'Bash(rm *)',
    });
  });

  test.each([
    'ls',
    'echo rm -rf src',
    'echo "$HOME"',
    'git rm x',
    'npm test && npm run build',
    'rmdir x',
    'cat rm',
  ])('a rule that denies rm leaves %j alone in mode auto', async (line) => {
    expect((await judgeLine(project, line, 'auto', [row('Bash(rm *)', 'deny')])).verdict).toBe('allow');
  });
});

/** Words and wildcards only: nothing in it that does more than its words say. */
function isPlain(line: string): boolean {
  return /^(cd [\w./]+(;| &&) )*(ls|cat|git diff)( [\w./=*?-]+)*$/.test(line);
}
