// What `verify_task` does with repositories that are larger or stranger than those of the corpus.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecret } from '../../../src/base/ids.js';
import { checkSchema, type Brief } from '../../../src/checks/brief.js';
import { hostLines } from '../../../src/checks/run-command.js';
import { verifyWork } from '../../../src/checks/verify.js';
import { GitRunner } from '../../../src/git/run/run-git.js';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';

const MANY = 14_000;
let top: string;
let project: string;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), 'verify-')));
  project = join(top, 'p');
  await mkdir(project);
});
afterEach(() => rm(top, { recursive: true, force: true }));

function commit(): void {
  gitIn(project, 'add', '--all');
  gitIn(project, 'commit', '-q', '-m', 'work');
}

/** Verifies the last commit against the one before. */
async function verified(check: object, path = project, folder = path, brief?: Brief) {
  const mark = createSecret();
  const env = { PATH: process.env['PATH'] ?? '', HOME: top, [MARK_VARIABLE]: mark };
  const lines = hostLines({ shell: '/bin/sh', env, mark, startedSince: undefined });
  const found = await verifyWork(
    {
      door: {
        roots: AllowedRoots.ofReal([top], top),
        runner: new GitRunner({ path: process.env['PATH'], homeDir: top, xdgConfigHome: undefined }),
      },
      query: {
        folder,
        base: gitIn(path, 'rev-parse', 'HEAD~1').trim(),
        end: gitIn(path, 'rev-parse', 'HEAD').trim(),
      },
      checks: [checkSchema.parse({ name: 'unit', command: 'true', ...check })],
      brief,
      scratch: join(top, 'copies'),
      outputFolder: join(top, 'outputs'),
      linesIn: () => Promise.resolve(lines),
    },
    new AbortController().signal,
  );
  expect(existsSync(join(top, 'copies'))).toBe(false);
  return found;
}

it('all of 14,000 new test files are put onto the old code', async () => {
  await repository(project, { 'a.txt': '1\n' });
  const long = 'x'.repeat(150);
  execFileSync('sh', ['-c', `mkdir t && cd t && seq -f ${long}%g.t.sh ${MANY} | xargs touch`], {
    cwd: project,
  });
  commit();
  const command = `[ "$(ls t | wc -l)" -eq ${MANY} ]`;
  const { results, tests } = await verified({ command, tests: ['*.t.sh'] });
  expect(results).toMatchObject([{ verdict: 'met' }]);
  expect(tests).toMatchObject([{ after: 'met', before: 'met' }]);
});

it('a name that is no text is in no command line, and the test is put onto the old code all the same', async () => {
  await repository(project, { 'a.txt': '1\n' });
  await writeFile(Buffer.concat([Buffer.from(`${project}/`), Buffer.from([0xff]), Buffer.from('.t.sh')]), '');
  commit();
  const each = await verified({ tests: ['*.t.sh'], each: 'sh {file}' });
  expect(each.tests).toMatchObject([{ after: 'not run', before: 'not run' }]);
  const whole = await verified({ command: '[ "$(ls *.t.sh | wc -l)" -eq 1 ]', tests: ['*.t.sh'] });
  expect(whole.tests).toMatchObject([{ after: 'met', before: 'met' }]);
});

it.each(['sh {file}', 'sh "{file}"', "sh '{file}'", 'sh -c "sh {file}"', "env sh -e './{file}'"])(
  'a test file is run by %s',
  async (each) => {
    await repository(project, { 'a.txt': '1\n' });
    await writeFiles(project, { 'b.t.sh': '[ -e b.txt ]\n', 'b.txt': '' });
    commit();
    const { tests } = await verified({ tests: ['*.t.sh'], each });
    expect(tests).toMatchObject([{ file: 'b.t.sh', red_before: true }]);
  },
);

it.each(['$(touch pwned).t.sh', '[id] (a).t.sh', "it's.t.sh", '-e.t.sh'])(
  'a test file with the name %s is one word, in quotes or not',
  async (name) => {
    await repository(project, { 'a.txt': '1\n' });
    await writeFiles(project, { [name]: '[ -e b.txt ] && [ ! -e pwned ]\n', 'b.txt': '' });
    commit();
    for (const each of ['sh {file}', 'sh "{file}"']) {
      const { tests } = await verified({ tests: ['*.t.sh'], each });
      expect(tests).toMatchObject([{ after: 'met', red_before: true }]);
    }
  },
);

it('a whole check runs once on the new code, and once on the old one', async () => {
  await repository(project, { 'a.txt': '1\n' });
  await writeFiles(project, { 'b.txt': '' });
  commit();
  const command = `pwd >> ${top}/ran; [ -e b.txt ]`;
  expect((await verified({ command })).tests).toMatchObject([{ after: 'met', red_before: true }]);
  const ran = (await readFile(join(top, 'ran'), 'utf8')).trim().split('\n');
  expect(ran.map((path) => basename(path))).toEqual(['after', 'before']);
});

it('of a worktree the folders of its project are linked, in which it was installed', async () => {
  await repository(project, { '.gitignore': 'node_modules/\n' });
  await writeFiles(project, { 'node_modules/x/index.js': '' });
  const worktree = join(top, 'w');
  gitIn(project, 'worktree', 'add', '-q', worktree);
  await writeFiles(worktree, { 'b.txt': '' });
  gitIn(worktree, 'add', '--all');
  gitIn(worktree, 'commit', '-q', '-m', 'work');
  const found = await verified({ command: '[ -e node_modules/x/index.js ]' }, worktree);
  expect(found).toMatchObject({ linked: ['node_modules'], results: [{ verdict: 'met' }] });
});

it.each([
  ['removed', ['rm', '-q', 'pkg/old.test.sh'], 'deleted file'],
  ['moved away from its pattern', ['mv', 'pkg/old.test.sh', 'pkg/old.off'], 'rename to pkg/old.off'],
  ['moved out of the project', ['mv', 'pkg/old.test.sh', 'old.test.sh'], 'deleted file'],
])('a test that is %s shows', async (_, words, patch) => {
  await repository(project, { 'pkg/old.test.sh': 'one\ntwo\nexit 1\n', 'pkg/a.txt': '1\n' });
  gitIn(project, ...words);
  commit();
  const { tests_changed, notes } = await verified({ tests: ['*.test.sh'] }, project, join(project, 'pkg'));
  expect(tests_changed).toContain(patch);
  expect(notes).toContain('No longer there as tests: old.test.sh.');
});

it('files that the brief does not name are listed, also outside of the project', async () => {
  await repository(project, { 'pkg/a.txt': '1\n', 'gone.txt': '1\n' });
  await writeFiles(project, { 'pkg/a.txt': '2\n', 'pkg/b.txt': '', 'pkg2/a.txt': '', 'c.txt': '' });
  await rm(join(project, 'gone.txt'));
  commit();
  const { outside_brief } = await verified({}, project, join(project, 'pkg'), { files: ['a.txt'] });
  expect(outside_brief).toEqual(['c.txt', 'gone.txt', 'pkg/b.txt', 'pkg2/a.txt']);
});

it('a test that was moved is named with its old place', async () => {
  await repository(project, { 'old.test.sh': 'one\ntwo\nexit 0\n' });
  gitIn(project, 'mv', 'old.test.sh', 'new.test.sh');
  commit();
  const { tests, notes } = await verified({ tests: ['*.test.sh'], each: 'sh {file}' });
  expect(tests).toMatchObject([{ file: 'new.test.sh', moved: true }]);
  expect(notes).toContain('To git these were moved: old.test.sh is now new.test.sh.');
});

it('where the patch of tests is cut, the tests are named', async () => {
  await repository(project, { 'a.test.sh': 'x\n'.repeat(MANY), 'z.test.sh': 'exit 1\n' });
  await writeFiles(project, { 'a.test.sh': 'y\n'.repeat(MANY), 'z.test.sh': 'exit 0\n' });
  commit();
  const { notes } = await verified({ tests: ['*.test.sh'] });
  expect(notes).toContain('tests_changed is cut; it is about a.test.sh, z.test.sh.');
});
