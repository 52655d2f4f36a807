import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BridgeError, ignoreSystemError } from '../base/errors.js';
import { nameMatcher } from '../projects/name-list.js';
import { isWithin, pathInProject } from '../projects/path-in-project.js';
import { isSecret, isSecretName, secretNames } from '../projects/secret-names.js';

/** Absolute paths that the sandbox of a project's commands protects. */
export interface SandboxPaths {
  /** Secrets, in the project and in the home directory. */
  readonly denyRead: readonly string[];
  /** Files and folders that can run programs or instruct an agent later. */
  readonly denyWrite: readonly string[];
  /** Folders that commands can write to, but neither rename nor replace. */
  readonly pinned: readonly string[];
  /** Git folders of the repositories in the project. */
  readonly repositories: readonly string[];
}

/** Folders of package managers: the project's programs write there all the time, and no person stores secrets there. */
const PACKAGE_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  'site-packages',
  'dist-packages',
  '__pycache__',
  '.venv',
  'venv',
  '.tox',
  '.yarn',
  '.bundle',
  '.gradle',
  '.m2',
  '.nuget',
  '.direnv',
  '.pixi',
]);

/** Protected where they are, and at the top of a project even while missing: a session, a forge or a shell uses a new one immediately. */
const RESERVED_NAMES: readonly string[] = [
  'AGENTS.md',
  'CLAUDE.local.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.agents',
  '.circleci',
  '.claude/CLAUDE.md',
  '.claude/output-styles',
  '.claude/plugins',
  '.claude/rules',
  '.codex',
  '.cursor',
  '.cursorrules',
  '.devcontainer',
  '.devcontainer.json',
  '.envrc',
  '.gitattributes',
  '.githooks',
  '.github',
  '.gitlab-ci.yml',
  '.husky',
  '.npmrc',
  '.pre-commit-config.yaml',
  '.tool-versions',
  '.yarnrc.yml',
  'Jenkinsfile',
  'lefthook.yml',
  'mise.toml',
];

/** Protected where they are. Programs of a project write other files with a dot all the time, such as caches. */
const isProtectedName = nameMatcher({
  folders: [...RESERVED_NAMES, '.git', '.hg', '.idea', '.jj', '.mcp.json', '.svn', '.vscode'],
  files: [],
});

/** Folders in a git folder that change what git runs: its programs, and the repositories of submodules. */
export const GIT_FOLDERS: readonly string[] = ['hooks', 'modules'];
/** A file that names another folder whose config git uses instead; see `holdCommonFolder`. */
export const COMMON_FOLDER = 'commondir';
/** In a git folder, protected even while missing. Git reads `config.worktree` where the repository says so. */
const GIT_PATHS: readonly string[] = ['config', 'config.worktree', COMMON_FOLDER, ...GIT_FOLDERS];
/** Claude Code passes all paths to the sandbox in one argument, which the kernel limits to 128 KiB. */
const MAX_CHARS = 24_000;
const FOLDERS_AT_ONCE = 16;

export interface SandboxContext {
  /** Git folders outside the project that git writes to. */
  readonly gitFolders?: readonly string[];
  /** Where Claude Code stores the user's login; default: `.claude` in the home directory. */
  readonly userFolder?: string;
  /** For a git worktree: the project it was created from, whose secrets are protected, too. */
  readonly madeFrom?: string | undefined;
}

/**
 * Searches the project for secrets and files that run later. Does not follow links. Throws SANDBOX_UNAVAILABLE when there are
 * more than a sandbox can list.
 */
export async function sandboxPaths(
  projectPath: string,
  homeDir: string,
  { gitFolders = [], madeFrom, userFolder = join(homeDir, '.claude') }: SandboxContext = {},
): Promise<SandboxPaths> {
  const found = await searchProject(projectPath);
  const secrets = [
    ...(await homeSecrets(homeDir, userFolder)),
    ...KNOWN_SECRETS.map((name) => join(projectPath, name)),
    ...found.denyRead,
  ];
  if (madeFrom !== undefined) secrets.push(...(await searchProject(madeFrom)).denyRead);
  const names = (await isInRepository(projectPath)) ? RESERVED_NAMES : [...RESERVED_NAMES, '.git'];
  for (const name of names) found.denyWrite.add(join(projectPath, name));
  // Claude Code lets commands write these (2.1.330).
  const writable = ['.claude/debug', '.npm/_logs', join(userFolder, 'debug'), '/tmp/claude'];
  for (const path of await existingFolders(writable.map((name) => resolve(homeDir, name))))
    found.denyWrite.add(path);
  for (const path of await existingFolders([join(projectPath, '.claude'), ...gitFolders]))
    found.pinned.add(path);
  const paths = {
    denyRead: [...new Set(secrets)].map(asPattern),
    denyWrite: [...found.denyWrite].map(asPattern),
    pinned: [...found.pinned],
    repositories: [...found.repositories],
  };
  checkSize(paths, projectPath);
  return paths;
}

type Found = { readonly [Name in keyof SandboxPaths]: Set<string> };

async function searchProject(projectPath: string): Promise<Found> {
  const found: Found = {
    denyRead: new Set(),
    denyWrite: new Set(),
    pinned: new Set(),
    repositories: new Set(),
  };
  let folders = [projectPath];
  while (folders.length > 0) {
    const next = await Promise.all(
      folders.slice(0, FOLDERS_AT_ONCE).map((folder) => searchFolder(folder, projectPath, found)),
    );
    folders = [...folders.slice(FOLDERS_AT_ONCE), ...next.flat()];
  }
  return found;
}

/** In the folder of agents: they have tracked files, which are readable in every commit anyway, or logs. */
const NOT_SEARCHED: ReadonlySet<string> = new Set(['mcp-logs', 'worktrees']);

/**
 * Adds the folder's entries to `found`; returns the subfolders to search next. Everything in `.claude` is protected: what sessions read
 * as settings, and the logs and worktrees of other tasks.
 */
async function searchFolder(folder: string, projectPath: string, found: Found): Promise<string[]> {
  const agents = join(projectPath, '.claude');
  const isOfAgents = isWithin(folder, agents);
  const below: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (PACKAGE_FOLDERS.has(entry.name)) continue;
    if (entry.name === '.git' && !isOfAgents) {
      addRepository(path, entry, projectPath, found);
      continue;
    }
    const isSecretHere = isSecret(path, projectPath);
    const isLive = isOfAgents ? folder === agents : isProtectedName(pathInProject(path, projectPath));
    if (isSecretHere) found.denyRead.add(path);
    if (isLive) found.denyWrite.add(path);
    if (!isOfAgents && (isSecretHere || isLive)) pinAbove(path, projectPath, found.pinned);
    const isSearched = isOfAgents ? !(isLive && NOT_SEARCHED.has(entry.name)) : !isLive;
    if (entry.isDirectory() && !isSecretHere && isSearched) below.push(path);
  }
  return below;
}

/** Pins the folders above a protected path: if one could be moved away, another could replace it. */
export function pinAbove(path: string, projectPath: string, pinned: Set<string>): void {
  for (let above = dirname(path); above !== projectPath; above = dirname(above)) pinned.add(above);
}

function addRepository(path: string, entry: Dirent, projectPath: string, found: Found): void {
  pinAbove(path, projectPath, found.pinned);
  const isFolder = entry.isDirectory();
  if (isFolder) found.pinned.add(path);
  if (isFolder) found.repositories.add(path);
  for (const held of isFolder ? protectedInRepository(path) : [path]) found.denyWrite.add(held);
}

/** Paths in a git folder that commands must not write, although they may write to the folder. */
export function protectedInRepository(gitFolder: string): string[] {
  return GIT_PATHS.map((name) => join(gitFolder, name));
}

/** True when the project or a folder above it has a git folder. */
async function isInRepository(projectPath: string): Promise<boolean> {
  for (let folder = projectPath; ; folder = dirname(folder)) {
    if ((await kindOf(join(folder, '.git'))) !== 'missing') return true;
    if (folder === dirname(folder)) return false;
  }
}

const ALL_SECRETS = [...secretNames.folders, ...secretNames.files];
/** Those without a wildcard, which can be protected before the file exists. */
const KNOWN_SECRETS = ALL_SECRETS.filter(
  (name) => !name.includes('*') && !name.startsWith('.git/') && name !== 'environ',
);

/** The user's secrets: names without a wildcard even while missing, and all existing ones at the top and in known folders. */
async function homeSecrets(homeDir: string, userFolder: string): Promise<string[]> {
  const folders = new Set([...ALL_SECRETS.map((glob) => dirname(glob)), ...HOME_FOLDERS]);
  const existing = [...folders].map(async (folder) => {
    const names = (await entriesOf(join(homeDir, folder))).map(({ name }) => join(folder, name));
    return names.filter((name) => isSecretName(name));
  });
  const names = [...KNOWN_SECRETS, ...(await Promise.all(existing)).flat()];
  const login = ['.credentials.json', '.claude.json'].map((name) => join(userFolder, name));
  return [...names.map((name) => join(homeDir, name)), ...login];
}

/** Folders of the home directory in which programs store secrets next to other files. */
const HOME_FOLDERS: readonly string[] = ['.claude', '.config', '.local/share', 'Library'];

async function existingFolders(paths: readonly string[]): Promise<string[]> {
  const kinds = await Promise.all(paths.map(kindOf));
  return paths.filter((_, index) => kinds[index] === 'folder');
}

async function kindOf(path: string): Promise<'folder' | 'other' | 'missing'> {
  const facts = await stat(path).catch(ignoreSystemError);
  return facts === undefined ? 'missing' : facts.isDirectory() ? 'folder' : 'other';
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  // It may be removed meanwhile, or this user cannot read it; then the user's commands cannot either.
  return (await readdir(folder, { withFileTypes: true }).catch(ignoreSystemError)) ?? [];
}

/** Claude Code reads these characters as wildcards; `?` matches each of them. */
export function asPattern(path: string): string {
  return path.replace(/[*?[\]]/g, '?');
}

/**
 * Throws SANDBOX_UNAVAILABLE for a path with such a character: where it is not to be written, the sandbox of Linux skips it (2.1.332);
 * that of macOS was not measured.
 */
export function checkHeld(denyWrite: readonly string[]): void {
  const path = denyWrite.find((one) => asPattern(one) !== one || one.includes('?'));
  if (path !== undefined)
    throw refused(
      `a path that commands must not write has one of the characters * ? [ ], and the sandbox cannot hold it: ${path}.`,
    );
}

/** The error SANDBOX_UNAVAILABLE for a project or task that the sandbox cannot confine. */
export function refused(
  why: string,
  hint = 'Use permission_mode "cautious", or another project.',
): BridgeError {
  return new BridgeError('SANDBOX_UNAVAILABLE', `Mode sandboxed was asked for, but ${why}`, hint);
}

function checkSize({ denyRead, denyWrite, pinned }: SandboxPaths, projectPath: string): void {
  const paths = [...denyRead, ...denyWrite, ...pinned];
  const chars = paths.reduce((sum, path) => sum + path.length, 0);
  if (chars <= MAX_CHARS) return;
  throw refused(
    `${projectPath} contains ${paths.length} files and folders that commands must not access, more than a sandbox can list.`,
    'Start the task in a smaller folder of the project, or use permission_mode "cautious".',
  );
}
