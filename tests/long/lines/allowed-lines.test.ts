import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { checkShellLine } from '../../../src/approvals/shell/check-shell-line.js';
import { realLookup } from '../../../src/approvals/path-lookup.js';
import { compileRules } from '../../../src/approvals/user-rules.js';
import { randomLine } from './line-grammar.js';
import { testedGits, type TestedGit } from '../../harness/gits.js';
import { violationsOf, type Violation } from './line-oracle.js';
import { LineSandbox, type LineShell } from './line-sandbox.js';
import { seededRandom } from '../../harness/seeded-random.js';

/** `LINES_SEED` repeats an earlier run, `LINES` says how many lines are run; the long form runs a hundred times as many. */
const seed = Number(process.env['LINES_SEED'] ?? Date.now() % 1_000_000);
const count = Number(process.env['LINES'] ?? (process.env['SOAK'] === '1' ? 400_000 : 4_000));
/** Enough for each kind of hole to come up several times. */
const LAX_LINES = 4_000;
const LIMIT_MS = 120_000 + Math.max(count, LAX_LINES) * 60;

const places = { projectPath: '/tmp/work/project', homeDir: '/tmp/work/home' };
const ruleTexts = [
  ...[
    'npm test *',
    'npm run *',
    'npm * build',
    'git status *',
    'git diff *',
    'git log *',
    'git commit -m *',
    'cat *',
    'cat src/*',
  ],
  ...[
    'ls *',
    'ls',
    'grep *',
    'rg *',
    'find . *',
    'make',
    'make build *',
    'pytest *',
    'cargo test *',
    'sed -n *',
    'python3 -m pytest *',
  ],
  ...[
    'cp src/* dist',
    'echo *',
    'printf *',
    'test *',
    '[ *',
    'export *',
    'tsc',
    '* --version',
    'np*',
    'git diff HEAD~1',
    'rg x \\*',
  ],
];
const rules = compileRules(
  ruleTexts.map((text) => ({ rule: `Bash(${text})`, verdict: 'allow', reason: 'a person wrote it' })),
  places,
);
const bashes: readonly [LineShell, ...LineShell[]] = ['bash', 'bash with options'];
const zshes: readonly [LineShell, ...LineShell[]] = ['zsh', 'zsh with options', 'zsh as ksh'];

beforeAll(() => {
  process.stderr.write(
    `allowed lines: LINES_SEED=${seed} LINES=${count} with ${gits.map(({ version }) => version).join(', ')}\n`,
  );
});

const gits = testedGits();
/** Bash meets the system's git, zsh the newest: each line is run with both. */
const gitOf = (shell: LineShell): TestedGit | undefined => (bashes.includes(shell) ? gits[0] : gits.at(-1));

async function sandbox(shell: LineShell): Promise<LineSandbox> {
  const git = gitOf(shell);
  if (git === undefined) throw new Error('no git');
  const made = await LineSandbox.make(git);
  onTestFinished(() => made.remove());
  return made;
}

async function isAllowed(line: string): Promise<boolean> {
  const request = { line, mode: 'cautious', projectPath: places.projectPath, folder: undefined } as const;
  return (await checkShellLine(request, rules, realLookup)).verdict === 'allow';
}

/** Runs each line in one setting of bash and one of zsh, both at once. */
async function run(lines: readonly string[], withWriters = true): Promise<Violation[]> {
  const found: Violation[] = [];
  await Promise.all(
    ([bashes, zshes] as const).map(async (shells) => {
      const box = await sandbox(shells[0]);
      for (const [index, shell] of shells.entries()) {
        const share = lines.filter((_, at) => at % shells.length === index);
        found.push(...(await violationsOf(box, shell, share, rules.allow, withWriters)));
      }
    }),
  );
  return found;
}

describe('lines that rules allow', () => {
  it.each([...bashes, ...zshes])('are seen to start their programs, in %s', async (shell) => {
    const { started } = await (await sandbox(shell)).run(shell, ["npm 'run test' && ls src | cat"]);
    const words = (started[0] ?? []).map((one) => one.words);
    expect(words).toEqual(expect.arrayContaining([['npm', 'run test'], ['ls', 'src'], ['cat']]));
  });

  it(
    'start what the rules name, with the arguments that the lines show, and nothing else, in bash and zsh',
    { timeout: LIMIT_MS },
    async () => {
      const random = seededRandom(seed);
      const lines = new Set<string>();
      while (lines.size < count) {
        const line = randomLine(random);
        if (await isAllowed(line)) lines.add(line);
      }
      expect(await run([...lines])).toEqual([]);
    },
  );
});

/** What was found to run unasked once, each with a line of its kind, and how to know such a line. */
const holes: readonly (readonly [kind: string, line: string, known: RegExp])[] = [
  ['a program asked for its version', 'make version', /\b(node|make) version|python3 -v/],
  [
    'an evaluated word of a loop',
    "for x in 'a[$(touch x)]'; do case $((x)) in *) ls;; esac; done",
    /\$\(\(x\)\)|x@P/,
  ],
  ['a loop over a variable of programs', 'for HOME in $PWD/1; do git status; done', /for (HOME|PATH) in/],
  ['a class of characters that fits a dash', 'rg x []-]* payload.txt', /\[\]-\]|\[\[:punct:\]\]/],
  ['a wildcard that becomes an option', 'printf ?va* x', /\?/],
  ['a format that sets a variable', "printf 'a%n' HOME; git status", /printf 'a%n' HOME/],
  ['a calculation of zsh', "printf %d 'path[$(touch x)]'", /path\['?\$\(touch/],
  ['a command in a pattern of zsh', "for f in *(e:'touch x':); do true; done", /\(e:/],
  ['a command in the place of a file of zsh', 'cat <=(touch x)', /<=\(/],
  ['an assignment', 'PATH=bin; npm test', /PATH=bin/],
];

it.each(['bash', 'zsh'] as const)('a file that git writes is seen, in %s', async (shell) => {
  const lines = ['git status', 'git commit -m all', 'git log --output=x', 'false || git log -1 --output=y'];
  const found = await violationsOf(await sandbox(shell), shell, lines, rules.allow);
  const what = 'it writes or removes a file';
  expect(found).toEqual(lines.slice(2).map((line) => ({ shell, line, what })));
});

describe('a checker that allows everything', () => {
  it('is detected by a redirection, among lines that write nothing', async () => {
    const lines = ['npm test', 'ls', 'ls > made', 'git status'];
    const found = await violationsOf(await sandbox('bash'), 'bash', lines, rules.allow);
    expect(found).toEqual([{ shell: 'bash', line: 'ls > made', what: 'it writes or removes a file' }]);
  });

  it.each(holes)('is detected by %s', async (_, line) => {
    expect(await isAllowed(line)).toBe(false);
    const found: Violation[] = [];
    for (const shells of [bashes, zshes]) {
      const box = await sandbox(shells[0]);
      for (const shell of shells) found.push(...(await violationsOf(box, shell, [line], rules.allow)));
    }
    expect(found.length).toBeGreaterThan(0);
  });

  it('is detected by random lines of each of these kinds', { timeout: LIMIT_MS }, async () => {
    const random = seededRandom(1);
    const found = await run(
      Array.from({ length: LAX_LINES }, () => randomLine(random)),
      false,
    );
    for (const [kind, , known] of holes)
      expect(
        found.some(({ line }) => known.test(line)),
        kind,
      ).toBe(true);
  });
});
