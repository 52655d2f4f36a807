import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LineRequest } from '../../../src/approvals/shell/line-verdict.js';
import { ShellJudge } from '../../../src/approvals/shell/shell-judge.js';
import { bundledProgram } from '../../harness/bundled-program.js';
import { row } from '../shell-project.js';

const worker = bundledProgram(new URL('../../../src/approvals/shell/judge-worker.ts', import.meta.url));
const rows = [row('Bash(rm *)', 'deny'), row('Bash(npm test *)', 'allow')];
const places = { projectPath: '/p', homeDir: '/h' };

function judgeWith(workerFile: URL): ShellJudge {
  const judge = new ShellJudge({ rows, places, workerFile });
  onTestFinished(() => judge.dispose());
  return judge;
}

function asked(line: string): LineRequest {
  return { line, mode: 'cautious', projectPath: '/p', folder: undefined };
}

function repeated(piece: string, end = ''): string {
  return piece.repeat(Math.floor((20_000 - end.length) / piece.length)) + end;
}

async function brokenWorker(source: string): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'worker.mjs'), source);
  return pathToFileURL(join(folder, 'worker.mjs'));
}

describe('a line is judged in a thread', () => {
  test('by the rules, as it is without one', async () => {
    const judge = judgeWith(pathToFileURL(worker()));
    expect(await judge.judge(asked('npm test && rm x'))).toMatchObject({
      verdict: 'deny',
      rule: 'Bash(rm *)',
    });
    expect(await judge.judge(asked('npm test x'))).toMatchObject({
      verdict: 'allow',
      rule: 'Bash(npm test *)',
    });
    expect(await judge.judge(asked('npm publish'))).toMatchObject({ verdict: 'ask', rule: 'no-rule' });
  });

  test.each([
    ['sudo', repeated('sudo -x ')],
    ['find', `find . ${repeated('-exec ').slice(10)}`],
    ['find in find', repeated('find . -exec ')],
    ['xargs', repeated('xargs -y ')],
    ['substitutions', repeated('"$(')],
    ['substitutions that end', `${'$('.repeat(6_000)}a${')'.repeat(6_000)}`],
    ['backticks', repeated('`')],
    ['brackets', repeated('(')],
    ['brackets that end', `${'('.repeat(9_000)}a${')'.repeat(9_000)}`],
    ['calculations', repeated('$((')],
    ['parameters', repeated('${a:-')],
    ['braces', repeated('{a,')],
    ['loops', repeated('while cd a;do ', 'done')],
    ['shells', repeated("sh -c 'sh -c ")],
    ['git', repeated('git -c a=')],
    ['stars', repeated('*a')],
    ['blanks', `a${' '.repeat(19_990)}b`],
    ['here-documents', repeated('a <<E;')],
    ['commands', repeated('a;')],
    ['cases', repeated('case a in a) ', 'esac')],
  ])(
    'while a hostile line of %s is judged, the event loop goes on, and the line is not allowed',
    async (_, line) => {
      const judge = judgeWith(pathToFileURL(worker()));
      let turns = 0;
      const timer = setInterval(() => turns++, 5);
      const { verdict } = await judge.judge(asked(line));
      clearInterval(timer);
      expect(['ask', 'deny']).toContain(verdict);
      expect(turns).toBeGreaterThan(0);
    },
  );

  test.each([
    [
      'never ends',
      "import { parentPort } from 'node:worker_threads'; parentPort.postMessage('ready'); for (;;);",
      'longer than a second',
    ],
    ['fails', "throw new Error('oops')", 'oops'],
    ['ends without a verdict', '', 'ended'],
    ['overflows its stack', 'const f = () => f() + 1; f();', 'call stack'],
    // Whichever is reached first, its memory's bound or its time.
    [
      'takes all memory',
      'const a = []; for (;;) a.push(new Array(1e6).fill(a.length));',
      'could not be judged',
    ],
    [
      'says nonsense',
      "import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ verdict: 'allow' });",
      'cannot be read',
    ],
  ])('a thread that %s makes the line asked about, and the next line is judged', async (_, source, why) => {
    const judge = judgeWith(await brokenWorker(source));
    for (const line of ['npm test', 'npm test x']) {
      const { verdict, reason } = await judge.judge(asked(line));
      expect(verdict).toBe('ask');
      expect(reason).toContain(why);
    }
  });

  test('that ends with its owner', async () => {
    const judge = judgeWith(await brokenWorker('for (;;);'));
    const open = [judge.judge(asked('npm test')), judge.judge(asked('npm test x'))];
    judge.dispose();
    for (const verdict of await Promise.all(open)) expect(verdict).toMatchObject({ verdict: 'ask' });
  });

  test('of which only so many wait for it', async () => {
    const judge = judgeWith(await brokenWorker('for (;;);'));
    const open = Array.from({ length: 60 }, () => judge.judge(asked('npm test')));
    expect(await open.at(-1)).toMatchObject({ verdict: 'ask' });
    judge.dispose();
    await Promise.all(open);
  });
});
