import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { runsLater } from '../projects/live-names.js';
import { isSecret, isSecretName, secretNames } from '../projects/secret-names.js';

/** Paths of one project, absolute, for which the sandbox of its commands has rules of its own. */
export interface SandboxPaths {
  /** Secrets, in the project and in the home directory. */
  readonly denyRead: readonly string[];
  /** Files and folders that run or instruct later. */
  readonly denyWrite: readonly string[];
  /** Folders that can be written to, but neither renamed nor replaced. */
  readonly pinned: readonly string[];
  /** Git folders of the project, each of a repository of its own. */
  readonly repositories: readonly string[];
}

/** What package managers install: programs of a project write there all the time, and no person keeps secrets there. */
const INSTALLED: ReadonlySet<string> = new Set([
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

/** Held at the top of a project even while they are missing: a session, a forge, an editor or a shell obeys a new one at once. */
const HELD_WHILE_MISSING: readonly string[] = [
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

/** Below a git folder: what git obeys. */
const GIT_OBEYS: readonly string[] = ['config', 'config.worktree', 'hooks'];
/** Below a git folder: git takes what is in it for repositories of submodules. Held also while it is missing. */
export const MODULES_FOLDER = 'modules';
/** A file that names the folder whose config git obeys instead; see `holdCommonFolder`. */
export const COMMON_FOLDER = 'commondir';
/** Claude Code gives the sandbox all paths in one argument, which the kernel bounds to 128 KiB. */
const MAX_CHARS = 24_000;
const FOLDERS_AT_ONCE = 16;

export interface Surroundings {
  /** Git folders around the project that git writes to. */
  readonly gitFolders?: readonly string[];
  /** Where Claude Code keeps the user's login; `.claude` in the home directory when left out. */
  readonly userFolder?: string;
  /** Of a project that is a git worktree: the project that it was made from, whose secrets are held, too. */
  readonly madeFrom?: string | undefined;
}

/**
 * Looks through the project, as it is now, for files that the two lists name. Links are not followed. Throws
 * SANDBOX_UNAVAILABLE when there are more than a sandbox can take.
 */
export async function sandboxPaths(
  projectPath: string,
  homeDir: string,
  { gitFolders = [], madeFrom, userFolder = join(homeDir, '.claude') }: Surroundings = {},
): Promise<SandboxPaths> {
  const found = await lookThrough(projectPath);
  const secrets = [
    ...(await homeSecrets(homeDir, userFolder)),
    ...rootSecrets().map((name) => join(projectPath, name)),
    ...found.denyRead,
  ];
  if (madeFrom !== undefined) secrets.push(...(await lookThrough(madeFrom)).denyRead);
  const held = (await isInRepository(projectPath)) ? HELD_WHILE_MISSING : [...HELD_WHILE_MISSING, '.git'];
  for (const name of held) found.denyWrite.add(join(projectPath, name));
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

interface Found {
  readonly denyRead: Set<string>;
  readonly denyWrite: Set<string>;
  readonly pinned: Set<string>;
  readonly repositories: Set<string>;
}

async function lookThrough(projectPath: string): Promise<Found> {
  const found: Found = {
    denyRead: new Set(),
    denyWrite: new Set(),
    pinned: new Set(),
    repositories: new Set(),
  };
  let folders = [projectPath];
  while (folders.length > 0) {
    const next = await Promise.all(
      folders.slice(0, FOLDERS_AT_ONCE).map((folder) => lookInto(folder, projectPath, found)),
    );
    folders = [...folders.slice(FOLDERS_AT_ONCE), ...next.flat()];
  }
  return found;
}

/** Adds what the folder holds; gives the folders in it that are to be looked through. */
async function lookInto(folder: string, projectPath: string, found: Found): Promise<string[]> {
  const below: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (INSTALLED.has(entry.name)) continue;
    if (entry.name === '.git') {
      await addRepository(path, entry, projectPath, found);
      continue;
    }
    if (path === join(projectPath, '.claude')) {
      await lookIntoAgentFolder(path, projectPath, found);
      continue;
    }
    const secret = isSecret(path, projectPath);
    const live = runsLater(path, projectPath);
    if (secret) found.denyRead.add(path);
    if (live) found.denyWrite.add(path);
    if (secret || live) pinAbove(path, projectPath, found);
    else if (entry.isDirectory()) below.push(path);
  }
  return below;
}

/** All that is in it is held: what sessions obey, and the bridge's logs and worktrees, which belong to other tasks. */
async function lookIntoAgentFolder(folder: string, projectPath: string, found: Found): Promise<void> {
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    for (const entry of await entriesOf(next)) {
      const path = join(next, entry.name);
      if (next === folder) found.denyWrite.add(path);
      if (isSecret(path, projectPath)) found.denyRead.add(path);
      // A worktree holds what git tracks, which every commit holds, too.
      else if (entry.isDirectory() && !(next === folder && OF_THE_BRIDGE.has(entry.name))) folders.push(path);
    }
  }
}

const OF_THE_BRIDGE: ReadonlySet<string> = new Set(['mcp-logs', 'worktrees']);

/** A folder above a held path must not be moved away: another one could take its place. */
function pinAbove(path: string, projectPath: string, found: Found): void {
  for (let above = dirname(path); above !== projectPath; above = dirname(above)) found.pinned.add(above);
}

async function addRepository(path: string, entry: Dirent, projectPath: string, found: Found): Promise<void> {
  pinAbove(path, projectPath, found);
  if (!entry.isDirectory()) {
    found.denyWrite.add(path);
    return;
  }
  found.pinned.add(path);
  found.repositories.add(path);
  for (const held of await heldInRepository(path)) found.denyWrite.add(held);
}

/** What commands must not write in a git folder, although git writes to that. */
export async function heldInRepository(gitFolder: string): Promise<string[]> {
  const paths = GIT_OBEYS.map((name) => join(gitFolder, name));
  const kinds = await Promise.all(paths.map(kindOf));
  const there = paths.filter((_, index) => kinds[index] !== 'missing');
  return [...there, join(gitFolder, COMMON_FOLDER), join(gitFolder, MODULES_FOLDER)];
}

/** True when the project, or a folder above it, has a git folder. */
async function isInRepository(projectPath: string): Promise<boolean> {
  for (let folder = projectPath; ; folder = dirname(folder)) {
    if ((await kindOf(join(folder, '.git'))) !== 'missing') return true;
    if (folder === dirname(folder)) return false;
  }
}

/** Names without a wildcard: what is missing now is held as soon as it is there. */
function rootSecrets(): string[] {
  return [...secretNames.folders, ...secretNames.files].filter(
    (name) => !name.includes('*') && !name.startsWith('.git/') && name !== 'environ',
  );
}

/** Secrets of the user: by names without a wildcard also while they are missing, by all names at the top and in known folders. */
async function homeSecrets(homeDir: string, userFolder: string): Promise<string[]> {
  const names = [...secretNames.folders, ...secretNames.files].map((glob) => dirname(glob));
  const folders = [...new Set([...names, ...HOME_FOLDERS])];
  const there = await Promise.all(
    folders.map(async (folder) =>
      (await entriesOf(join(homeDir, folder)))
        .map(({ name }) => join(folder, name))
        .filter((name) => isSecretName(name)),
    ),
  );
  const login = ['.credentials.json', '.claude.json'].map((name) => join(userFolder, name));
  return [...[...rootSecrets(), ...there.flat()].map((name) => join(homeDir, name)), ...login];
}

/** Folders of the home directory in which programs keep secrets beside other files. */
const HOME_FOLDERS: readonly string[] = ['.claude', '.config', '.local/share', 'Library'];

async function existingFolders(paths: readonly string[]): Promise<string[]> {
  const kinds = await Promise.all(paths.map(kindOf));
  return paths.filter((_, index) => kinds[index] === 'folder');
}

async function kindOf(path: string): Promise<'folder' | 'other' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return 'missing';
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // Gone meanwhile, or closed to this user: then it is closed to the user's commands, too.
    if (systemCodeOf(error) === undefined) throw error;
    return [];
  }
}

/** Claude Code reads these characters as a pattern; `?` stands for any one of them. */
function asPattern(path: string): string {
  return path.replace(/[*?[\]]/g, '?');
}

function checkSize({ denyRead, denyWrite, pinned }: SandboxPaths, projectPath: string): void {
  const paths = [...denyRead, ...denyWrite, ...pinned];
  const chars = paths.reduce((sum, path) => sum + path.length, 0);
  if (chars <= MAX_CHARS) return;
  throw new BridgeError(
    'SANDBOX_UNAVAILABLE',
    `Mode sandboxed was asked for, but ${projectPath} holds ${paths.length} files and folders that must be kept from commands, more than a sandbox can take.`,
    'Start the task in a smaller folder of the project, or use permission_mode "cautious".',
  );
}
