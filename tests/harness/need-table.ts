import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** What some tests need besides Node, npm, git and a compiler. */
interface Need {
  /** As a reader knows it. */
  readonly title: string;
  /** The command that adds it. */
  readonly add: string;
}

export const needNames = ['browser', 'shells', 'claude', 'docker', 'editors', 'git', 'machines'] as const;
export type NeedName = (typeof needNames)[number];

/** The newest one, and the oldest that the extension supports. */
export const EDITOR_VERSIONS = ['1.139.1', '1.100.3'] as const;

/** Debian's openssh-server, unpacked. */
export const SSHD = join('.cache', 'sshd');

const programs = 'scripts/install-test-programs.sh';

export const needs = {
  browser: { title: 'Chromium', add: programs },
  shells: { title: 'zsh, bubblewrap and socat', add: programs },
  claude: { title: 'the pinned Claude Code', add: 'npm run fetch-claude' },
  docker: { title: 'a Docker engine', add: 'export DOCKER_HOST="$(scripts/test-engine.sh start <folder>)"' },
  editors: { title: 'VS Code', add: 'scripts/install-vscode.sh .cache/vscode' },
  machines: { title: 'root on Linux, and sshd', add: `scripts/fetch-sshd.sh ${SSHD}` },
  git: { title: 'the newest git', add: 'scripts/newest-git.sh .cache/newest-git' },
} satisfies Record<NeedName, Need>;

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell';

/** Where a program of this name is, by PATH. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Whether the machine has it, by files and a program that ends at once; what takes longer to know is found by the global set-up. */
export const isThere: Readonly<Record<Exclude<NeedName, 'claude' | 'docker'>, () => boolean>> = {
  browser: () => existsSync(CHROMIUM),
  shells: () => ['zsh', 'bwrap', 'socat'].every((name) => onPath(name) !== undefined),
  editors: () =>
    existsSync(CHROMIUM) &&
    EDITOR_VERSIONS.every((version) => existsSync(join(root, '.cache', 'vscode', version, 'complete'))),
  git: () => existsSync(join(root, '.cache', 'newest-git', 'bin', 'git')),
  machines: () =>
    process.getuid?.() === 0 &&
    existsSync(join(root, SSHD, 'usr', 'sbin', 'sshd')) &&
    spawnSync('unshare', ['--mount', '--uts', '--ipc', '--net', '--pid', '--fork', 'true']).status === 0,
};
