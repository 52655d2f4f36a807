import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LineRequest } from '../../../src/approvals/shell/line-verdict.js';
import { ShellChecker } from '../../../src/approvals/shell/shell-checker.js';
import { bundledProgram } from '../../harness/bundled-program.js';
import { row } from '../../approvals/shell-project.js';

const worker = bundledProgram(new URL('../../../src/approvals/shell/check-worker.ts', import.meta.url));
const rows = [row('Bash(rm *)', 'deny'), row('Bash(npm test *)', 'allow')];
const bases = { projectPath: '/p', homeDir: '/h' };

function checkerWith(workerFile: URL): ShellChecker {
  const checker = new ShellChecker({ rows, bases, workerFile });
  onTestFinished(() => checker.dispose());
  return checker;
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

describe('a line is checked in a thread', () => {
  test('against the rules, with the same verdict as without a thread', async () => {
    const checker = checkerWith(pathToFileURL(worker()));
    expect(await checker.check(asked('npm test && rm x'))).toMatchObject({
      verdict: 'deny',
      rule: 'Bash(rm *)',
    });
    expect(await checker.check(asked('npm test x'))).toMatchObject({
      verdict: 'allow',
      rule: 'Bash(npm test *)',
    });
    expect(await checker.check(asked('npm publish'))).toMatchObject({ verdict: 'ask', rule: 'no-rule' });
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
    'while a hostile line of %s is checked, the event loop keeps running, and the line is not allowed',
    async (_, line) => {
      const checker = checkerWith(pathToFileURL(worker()));
      let turns = 0;
      const timer = setInterval(() => turns++, 5);
      const { verdict } = await checker.check(asked(line));
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
      'could not be checked',
    ],
    [
      'says nonsense',
      "import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ verdict: 'allow' });",
      'cannot be read',
    ],
  ])('a thread that %s makes the line asked about, and the next line is judged', async (_, source, why) => {
    const checker = checkerWith(await brokenWorker(source));
    for (const line of ['npm test', 'npm test x']) {
      const { verdict, reason } = await checker.check(asked(line));
      expect(verdict).toBe('ask');
      expect(reason).toContain(why);
    }
  });

  test('that is replaced when it fails between two lines', async () => {
    const source = `
      import { parentPort } from 'node:worker_threads';
      const verdict = { verdict: 'allow', rule: 'r', reason: 'thread ' + Math.random(), parts: [] };
      parentPort.on('message', () => {
        parentPort.postMessage('ready');
        parentPort.postMessage(verdict);
        setImmediate(() => { throw new Error('oops'); });
      });`;
    const checker = checkerWith(await brokenWorker(source));
    const first = await checker.check(asked('npm test'));
    const later = async (): Promise<boolean> => {
      const { verdict, reason } = await checker.check(asked('npm test x'));
      return verdict === 'allow' && reason !== first.reason;
    };
    await expect.poll(later).toBe(true);
  });

  test('that ends when the checker is disposed', async () => {
    const checker = checkerWith(await brokenWorker('for (;;);'));
    const open = [checker.check(asked('npm test')), checker.check(asked('npm test x'))];
    checker.dispose();
    for (const verdict of await Promise.all(open)) expect(verdict).toMatchObject({ verdict: 'ask' });
  });

  test('with a bounded queue of waiting lines', async () => {
    const checker = checkerWith(await brokenWorker('for (;;);'));
    const open = Array.from({ length: 60 }, () => checker.check(asked('npm test')));
    expect(await open.at(-1)).toMatchObject({ verdict: 'ask' });
    checker.dispose();
    await Promise.all(open);
  });
});
