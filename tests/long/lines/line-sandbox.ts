import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestedGit } from '../../harness/gits.js';

const run = promisify(execFile);

/** A program that a line started, as a stand-in for it saw it. */
export interface Started {
  readonly words: readonly string[];
  /** The values of PATH and HOME, which a line must not change. */
  readonly places: string;
}

/** Of a run of several lines. */
export interface Outcome {
  /** For each line. */
  readonly started: readonly (readonly Started[])[];
  readonly hasChangedFiles: boolean;
}

/** How a shell is started: `eval` of the line, as Claude Code does it. */
export const lineShells = {
  bash: ['/bin/bash', '--norc', '--noprofile', '-c'],
  'bash with options': [
    ...[
      '/bin/bash',
      '--norc',
      '--noprofile',
      '-O',
      'extglob',
      '-O',
      'dotglob',
      '-O',
      'globstar',
      '-O',
      'nocaseglob',
    ],
    ...['-O', 'nullglob', '-O', 'autocd', '-O', 'expand_aliases', '-c'],
  ],
  zsh: ['/usr/bin/zsh', '-f', '-c'],
  'zsh with options': [
    ...[
      '/usr/bin/zsh',
      '-f',
      '-o',
      'extendedglob',
      '-o',
      'magicequalsubst',
      '-o',
      'globdots',
      '-o',
      'nullglob',
      '-o',
      'globsubst',
    ],
    ...[
      '-o',
      'shwordsplit',
      '-o',
      'rcquotes',
      '-o',
      'bareglobqual',
      '-o',
      'braceccl',
      '-o',
      'interactivecomments',
      '-o',
      'autocd',
      '-c',
    ],
  ],
  'zsh as ksh': [
    '/usr/bin/zsh',
    '-f',
    '-o',
    'kshglob',
    '-o',
    'nonomatch',
    '-o',
    'ksharrays',
    '-o',
    'promptsubst',
    '-c',
  ],
} as const;

export type LineShell = keyof typeof lineShells;

/** Programs of the rules, and some that nothing may start. */
const standIns = [
  ...[
    'npm',
    'git',
    'cat',
    'ls',
    'grep',
    'rg',
    'find',
    'make',
    'pytest',
    'cargo',
    'sed',
    'cp',
    'python3',
    'tsc',
    'node',
    'source',
  ],
  ...[
    'touch',
    'sh',
    'rm',
    'env',
    'xargs',
    'id',
    'x',
    'a',
    'b',
    'src',
    'root',
    'noglob',
    'time',
    'p',
    '1',
    'bin',
    'do',
    'then',
  ],
];

/** What an attacker's files are called. */
const hostileFiles = [
  ...[
    '--pre=sh',
    '-exec',
    '-delete',
    '--output=x',
    '-va[$(touch x)]',
    'a[$(touch x)]',
    'a b',
    'a\nb',
    'a;touch x',
    'a`touch x`',
    "a'b",
  ],
  ...[
    'b',
    'b$(touch x)',
    'HEAD',
    'HEADx',
    '=ls',
    '~root',
    'src/a',
    'src/a.ts',
    'src/--pre=sh',
    'src/$(touch x)',
    'src/a b',
    '.env',
    '.-x',
  ],
  ...['x=~', '[a]', '*', '?', '1/.config/git/config', 'p', 'e:touch x:', 'src/deep/-exec', '#x', 'é'],
];

const END = 'end-of-words-7c41';
const MARK = 'line-7c41';
const LIMIT_MS = 240_000;
const PATH = '/tmp/work/programs';
const HOME = '/tmp/work/home';
/** What stand-ins see when a line changed nothing. */
export const expectedPlaces = `${PATH} ${HOME}`;

/**
 * Runs each line once. The stand-ins write to descriptor 9. A shell may end before what it started (zsh becomes the last program of
 * a pipeline): the next line waits until the last process of this one has closed descriptor 8.
 */
const DRIVER = `
exec 9>>/tmp/work/log
at=0
while IFS= read -r -d '' line; do
  printf '%s\\0' '${MARK}' "$at" '${END}' >&9
  : "$( cd /tmp/work/project && PATH=${PATH} exec "$@" 'eval "$1"' shell "$line" 8>&1 </dev/null >/dev/null 2>&1 )"
  at=$((at + 1))
done </tmp/work/lines
`;
const NOTE = `#!/bin/dash\nprintf '%s\\0' "\${0##*/}" "$@" "$PATH $HOME" '${END}' >&9\n`;
/** Some fail, so that what comes after `||` runs, too. */
const STAND_IN = `${NOTE}exit $(($# % 3 / 2))\n`;
/** What git changes there is its own. */
const OF_GIT = /^project\/\.git\//;

/**
 * A sandbox without network, in which nothing but one folder can be written: bubblewrap. The project in it is a repository, and
 * `git` is the real one, behind a note of its start.
 */
export class LineSandbox {
  readonly #folder: string;
  readonly #git: TestedGit;

  private constructor(folder: string, git: TestedGit) {
    this.#folder = folder;
    this.#git = git;
  }

  static async make(git: TestedGit): Promise<LineSandbox> {
    const folder = await mkdtemp(join(tmpdir(), 'lines-'));
    await mkdir(join(folder, 'programs'));
    for (const name of standIns) await writeFile(join(folder, 'programs', name), STAND_IN, { mode: 0o755 });
    const program = git.folder === undefined ? '/usr/bin/git' : join(git.folder, 'git');
    await writeFile(join(folder, 'programs', 'git'), `${NOTE}exec '${program}' "$@"\n`);
    const sandbox = new LineSandbox(folder, git);
    await sandbox.reset();
    return sandbox;
  }

  /** Makes the project and the home folder as they were. */
  async reset(): Promise<void> {
    for (const name of ['project', 'home'])
      await rm(join(this.#folder, name), { recursive: true, force: true });
    await mkdir(join(this.#folder, 'home'));
    for (const name of hostileFiles) {
      const path = join(this.#folder, 'project', name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, 'touch x\n');
    }
    // Found by a PATH that a line changed.
    await mkdir(join(this.#folder, 'project', 'bin'));
    for (const name of standIns)
      await writeFile(join(this.#folder, 'project', 'bin', name), STAND_IN, { mode: 0o755 });
    await this.#makeRepository();
  }

  async #makeRepository(): Promise<void> {
    const home = join(this.#folder, 'home');
    await writeFile(join(home, '.gitconfig'), '[user]\n\tname = a\n\temail = a@example.org\n');
    const cwd = join(this.#folder, 'project');
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'all'],
      ['rm', '-q', '--cached', 'p'],
    ])
      await run('git', args, { cwd, env: { PATH: '/usr/bin:/bin', HOME: home } });
  }

  /** What each line started, and whether one of them wrote or removed a file. Rejects when they do not end in time. */
  async run(shell: LineShell, lines: readonly string[]): Promise<Outcome> {
    const log = join(this.#folder, 'log');
    await writeFile(log, '');
    await writeFile(join(this.#folder, 'lines'), lines.map((line) => `${line}\0`).join(''));
    const before = await this.#names();
    const box = [
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--tmpfs',
      '/tmp',
      '--bind',
      this.#folder,
      '/tmp/work',
      // It may lie in the folder for temporary files.
      ...(this.#git.folder === undefined
        ? []
        : ['--ro-bind', dirname(this.#git.folder), dirname(this.#git.folder)]),
    ];
    const guards = [
      '--remount-ro',
      '/tmp',
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      '--setenv',
      'HOME',
      HOME,
      '--setenv',
      'TMPDIR',
      HOME,
      '--setenv',
      'TMPPREFIX',
      `${HOME}/zsh`,
    ];
    await run('bwrap', [...box, ...guards, '/bin/bash', '-c', DRIVER, 'driver', ...lineShells[shell]], {
      timeout: LIMIT_MS,
    });
    const after = await this.#names();
    const words = (await readFile(log, 'utf8')).split('\0');
    return { started: read(words, lines.length), hasChangedFiles: after !== before };
  }

  async #names(): Promise<string> {
    const names = await readdir(this.#folder, { recursive: true });
    return names
      .filter((name) => !OF_GIT.test(name))
      .sort()
      .join('\0');
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }
}

function read(words: readonly string[], count: number): Started[][] {
  const lines: Started[][] = Array.from({ length: count }, () => []);
  let current: Started[] | undefined;
  let begin = 0;
  for (const [index, word] of words.entries()) {
    if (word !== END) continue;
    const record = words.slice(begin, index);
    begin = index + 1;
    if (record[0] === MARK) current = lines[Number(record[1])];
    else current?.push({ words: record.slice(0, -1), places: record.at(-1) ?? '' });
  }
  return lines;
}
