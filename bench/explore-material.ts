import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const RANGE_LINES = 2_000_000;
export const TREE_FILES = 50_000;
export const REPOSITORY_FILES = 20_000;
export const CHANGES = 500;
/** Stands once in each of 576 source files. */
export const NEEDLE = 'file-9.ts';
export const NEEDLES = 576;
/** Of the file of one megabyte. */
export const MEGABYTE_LINES = 31_775;

const POOL = Array.from({ length: 997 }, (_, seed) => hex(seed));

/** Line n (from 1) of the large file: short ones in the first half, long in the second, so that no place can be guessed. */
export function rangeLine(n: number): string {
  const length = (n > RANGE_LINES / 2 ? 50 : 16) + (n % 15);
  return `${String(n).padStart(8, '0')} ${(POOL[n % POOL.length] ?? '').slice(0, length)}`;
}

/** What the measured calls look at; made once for a run. */
export function makeMaterial(folder: string): void {
  writeLines(join(folder, 'f1m.txt'), MEGABYTE_LINES);
  writeLines(join(folder, 'f100m.txt'), RANGE_LINES);
  makeTree(join(folder, 'bigtree'));
  makeRepository(join(folder, 'repo20k'));
  makeDiff(join(folder, 'repodiff'));
}

function makeTree(root: string): void {
  put(join(root, '.gitignore'), 'node_modules/\n*.log\n!keep.log\n/tmp/\n');
  let files = 1;
  const add = (path: string): void => {
    put(join(root, path), `// ${path}\nexport const id = '${hex(path).slice(0, 16)}';\n`);
    files++;
  };
  for (let p = 0; p < 12; p++) {
    const pkg = `packages/pkg-${p}`;
    put(join(root, pkg, '.gitignore'), 'dist/\n*.tmp\n!important.tmp\n');
    put(join(root, pkg, 'src/gen/.gitignore'), '*\n!.gitignore\n!index.ts\n');
    files += 2;
    add(`${pkg}/src/gen/index.ts`);
    for (let n = 0; n < 100; n++) add(`${pkg}/src/gen/g${n}.ts`);
    for (const name of ['keep.log', 'noise.log', 'important.tmp']) add(`${pkg}/${name}`);
    for (let part = 0; part < 48; part++) {
      const at = `${pkg}/src/mod-${Math.floor(part / 6)}/part-${part % 6}`;
      for (let n = 0; n < 10; n++) add(`${at}/file-${n}.ts`);
      for (let n = 0; n < 12; n++) add(`${at}/deep/er/x-${n}.ts`);
    }
    for (let n = 0; n < 900; n++) add(`${pkg}/dist/chunk-${n}.js`);
  }
  for (let n = 0; files < TREE_FILES; n++)
    add(`node_modules/dep-${Math.floor(n / 20)}/lib/${n % 4}/f${n % 20}.js`);
  git(root, 'init', '-q', '-b', 'main');
}

function makeRepository(root: string): void {
  const place = (n: number): string => join(root, `d${n % 40}/s${Math.floor(n / 40) % 25}/file-${n}.txt`);
  for (let n = 0; n < REPOSITORY_FILES; n++) put(place(n), `file ${n}\n${hex(n)}\n${hex(n + 1)}\n`);
  commitAll(root);
  const step = Math.floor(REPOSITORY_FILES / CHANGES);
  for (let n = 0; n < CHANGES; n++) {
    if (n % 5 === 4) put(join(root, `d${n % 40}/new-${n}.txt`), `new ${n}\n`);
    else put(place(n * step), `file ${n * step}\nchanged\n${hex(n)}\n`);
  }
}

function makeDiff(root: string): void {
  const body = (file: number, version: string): string =>
    Array.from({ length: 4_000 }, (_, n) => {
      const words = hex(`${file}/${n}/${version}`).slice(0, 54);
      return `${version}${String(n).padStart(6, '0')} ${words}\n`;
    }).join('');
  for (let file = 0; file < 10; file++) put(join(root, `big-${file}.txt`), body(file, 'a'));
  commitAll(root);
  for (let file = 0; file < 10; file++) put(join(root, `big-${file}.txt`), body(file, 'b'));
}

function commitAll(root: string): void {
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '-A');
  git(root, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-q', '-m', 'base');
}

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', args, { cwd, env });
}

function writeLines(path: string, count: number): void {
  put(path, Array.from({ length: count }, (_, n) => `${rangeLine(n + 1)}\n`).join(''));
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function hex(seed: string | number): string {
  return createHash('sha256').update(String(seed)).digest('hex');
}
