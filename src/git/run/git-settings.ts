// Pure: what git may see of the server's environment, and of the settings of the user and the repository. Only what is listed here, so nothing that names a program.
import { delimiter, isAbsolute, join } from 'node:path';

/** The part of the server's environment that git may see. */
export interface GitContext {
  readonly path: string | undefined;
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

/** A name as printed by `git config --list`: in lower case except for the subsection. */
export type Setting = readonly [name: string, value: string];

export interface GitSettings {
  /** Settings of the storage format, which git reads only from the repository's own file. */
  readonly format: readonly Setting[];
  readonly others: readonly Setting[];
  /** Names of the filter drivers in the settings; git does not see the drivers. */
  readonly filters: readonly string[];
  readonly mergeDrivers: readonly string[];
  /** The settings may say where the files are, or that there are none (core.worktree, core.bare). */
  readonly namesTop: boolean;
  /** Length of object names: of SHA-1, or of SHA-256. */
  readonly hashBytes: number;
}

/** Texts, numbers and switches for the author of commits, for comparing files, and for upstream branches. */
const VISIBLE =
  /^(?:user\.(?:name|email|useconfigonly)|(?:author|committer)\.(?:name|email)|core\.(?:filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|excludesfile|checkstat|trustctime|sharedrepository|logallrefupdates|sparsecheckout|sparsecheckoutcone)|index\.sparse|branch\.[^]+\.(?:remote|merge)|remote\.[^]+\.fetch)$/;
/**
 * Settings that count only from the user: which owners git trusts, how it creates a repository, and a file from which git quotes
 * what it does not understand.
 */
const VISIBLE_FROM_USER =
  /^(?:core\.attributesfile|safe\.directory|init\.(?:defaultbranch|templatedir|defaultobjectformat|defaultrefformat))$/;
/** Excluded: `config.worktree`, whose settings are already in the list, and a remote from which git fetches missing objects. */
const FORMAT =
  /^(?:core\.(?:repositoryformatversion|sharedrepository)|extensions\.(?!(?:worktreeconfig|partialclone)$)[a-z]+)$/;
const PATHS = /^(?:core\.(?:attributesfile|excludesfile)|safe\.directory|init\.templatedir)$/;

/** Settings that always win: git fetches nothing and does nothing in the background. */
const ALWAYS: readonly Setting[] = [
  ['core.hookspath', '/dev/null'],
  ['core.untrackedcache', 'false'],
  // Otherwise `git diff` writes the index, and a concurrent `git add` of an agent fails on index.lock.
  ['diff.autorefreshindex', 'false'],
  // A commit-graph is a copy of what commits say, which a program may have written.
  ['core.commitgraph', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
  ['safe.barerepository', 'explicit'],
];

/** The environment of all commands but those of `queryEnvironment`: git reads settings only from `folder`. */
export function gitEnvironment({ path }: GitContext, folder: string): Record<string, string> {
  return { ...safeVariables(path), HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_COMMON_DIR: folder };
}

/** Only for `git config --list` and `git rev-parse`, which run no programs: it includes the user's and the repository's settings. */
export function queryEnvironment({ path, homeDir, xdgConfigHome }: GitContext): Record<string, string> {
  const config = xdgConfigHome === undefined ? {} : { XDG_CONFIG_HOME: xdgConfigHome };
  return { ...safeVariables(path), HOME: homeDir, ...config };
}

function safeVariables(path = '/usr/local/bin:/usr/bin:/bin'): Record<string, string> {
  return {
    // Relative folders would be searched in the repository.
    PATH: path
      .split(delimiter)
      .filter((folder) => isAbsolute(folder))
      .join(delimiter),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    // What the repository holds, and not what a replacement shows instead.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    // No transport has this name, so git refuses every transport, whatever `protocol.<name>.allow` says.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_PAGER: 'cat',
    GIT_ASKPASS: 'true',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
  };
}

/** Selects the settings from the output of `git config --list --show-scope -z`. */
export function settingsAmong(listed: string, { homeDir, xdgConfigHome }: GitContext): GitSettings {
  const fields = listed.split('\0');
  const isSet = xdgConfigHome !== undefined && xdgConfigHome !== '';
  const config = isSet ? xdgConfigHome : join(homeDir, '.config');
  const format: Setting[] = [];
  // git's defaults, named explicitly since git gets another home folder.
  const others: Setting[] = [
    ['core.attributesfile', join(config, 'git', 'attributes')],
    ['core.excludesfile', join(config, 'git', 'ignore')],
  ];
  const programs = new Map<string, string>();
  const mergeDrivers = new Set<string>();
  let namesTop = false;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const scope = fields[at] ?? '';
    const setting = settingOf(fields[at + 1] ?? '', homeDir);
    const [name, value] = setting;
    namesTop ||= name === 'core.worktree' || (name === 'core.bare' && value !== 'false');
    const isOfUser = scope === 'system' || scope === 'global';
    if (VISIBLE.test(name) || (isOfUser && VISIBLE_FROM_USER.test(name))) others.push(setting);
    if (scope === 'local' && FORMAT.test(name) && /^\w*$/.test(value)) format.push(setting);
    // The subsection is free text and may contain dots. git runs no program with an empty name; the last value counts.
    if (/^filter\.[^]+\.(?:clean|smudge|process)$/.test(name)) programs.set(name, value);
    const mergeDriver = /^merge\.([^]+)\.driver$/.exec(name)?.[1];
    if (mergeDriver !== undefined) mergeDrivers.add(mergeDriver);
  }
  const hashBytes = format.some(([name, value]) => name === 'extensions.objectformat' && value === 'sha256')
    ? 32
    : 20;
  const filters = [...programs]
    .filter(([, program]) => program !== '')
    .map(([name]) => name.slice('filter.'.length, name.lastIndexOf('.')));
  return { format, others, filters, mergeDrivers: [...mergeDrivers], namesTop, hashBytes };
}

/** The texts of the user's settings file, in which the settings that always win come last, and of the repository's. */
export function settingsTexts(settings: GitSettings | undefined) {
  const { others = [], format = [] } = settings ?? {};
  return {
    user: [...others, ...ALWAYS].map(settingText).join(''),
    repository: [...format, ['core.bare', 'false'] as const].map(settingText).join(''),
  };
}

function settingText([name, value]: Setting): string {
  const [, section = '', middle, key = ''] = /^([^.]+)(?:\.([^]*))?\.([^.]+)$/.exec(name) ?? [];
  const head = middle === undefined ? section : `${section} "${escaped(middle)}"`;
  return `[${head}]\n\t${key} = "${escaped(value).replaceAll('\n', '\\n')}"\n`;
}

function settingOf(field: string, homeDir: string): Setting {
  const end = field.indexOf('\n');
  // A name without a value is a switch that is on.
  if (end < 0) return [field, 'true'];
  const [name, value] = [field.slice(0, end), field.slice(end + 1)];
  return [name, PATHS.test(name) && value.startsWith('~/') ? join(homeDir, value.slice(2)) : value];
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&');
}
