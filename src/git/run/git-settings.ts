// Pure: selects the settings of the user and the repository that git may see. Only those listed here, so none that names a program.
import { join } from 'node:path';

/** A name as printed by `git config --list`: in lower case except for the subsection. */
export type Setting = readonly [name: string, value: string];

export interface GitSettings {
  /** Settings of the storage format, which git reads only from the repository's own file. */
  readonly format: readonly Setting[];
  readonly others: readonly Setting[];
  /** Names of the filter drivers in the settings; git does not see the drivers. */
  readonly filters: readonly string[];
  readonly mergeDrivers: readonly string[];
}

export interface UserFolders {
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

export const noSettings: GitSettings = {
  format: [],
  others: [],
  filters: [],
  mergeDrivers: [],
};

/** Texts, numbers and switches for the author of commits, for comparing files, and for upstream branches. */
const VISIBLE =
  /^(?:user\.(?:name|email|useconfigonly)|(?:author|committer)\.(?:name|email)|core\.(?:filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|excludesfile|checkstat|trustctime|sharedrepository|logallrefupdates|sparsecheckout|sparsecheckoutcone)|index\.sparse|branch\.[^]+\.(?:remote|merge)|remote\.[^]+\.fetch)$/;
/**
 * Settings that count only from the user: which owners git trusts, how it creates a repository, and a file from which git quotes
 * what it does not understand.
 */
const VISIBLE_FROM_USER =
  /^(?:core\.attributesfile|safe\.directory|init\.(?:defaultbranch|templatedir|defaultobjectformat|defaultrefformat))$/;
const USER_SCOPES: ReadonlySet<string> = new Set(['system', 'global']);
const FORMAT = /^(?:core\.(?:repositoryformatversion|sharedrepository)|extensions\.[a-z]+)$/;
/** Excluded: `config.worktree`, whose settings are already in the list, and a remote from which git fetches missing objects. */
const UNUSED_FORMAT: ReadonlySet<string> = new Set(['extensions.worktreeconfig', 'extensions.partialclone']);
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

/** Selects the settings from the output of `git config --list --show-scope -z`. */
export function settingsAmong(listed: string, user: UserFolders): GitSettings {
  const fields = listed.split('\0');
  const config =
    user.xdgConfigHome === undefined || user.xdgConfigHome === ''
      ? join(user.homeDir, '.config')
      : user.xdgConfigHome;
  const format: Setting[] = [];
  // git's defaults, named explicitly since git gets another home folder.
  const others: Setting[] = [
    ['core.attributesfile', join(config, 'git', 'attributes')],
    ['core.excludesfile', join(config, 'git', 'ignore')],
  ];
  const programs = new Map<string, string>();
  const mergeDrivers = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const scope = fields[at] ?? '';
    const setting = settingOf(fields[at + 1] ?? '', user.homeDir);
    const [name, value] = setting;
    if (VISIBLE.test(name) || (VISIBLE_FROM_USER.test(name) && USER_SCOPES.has(scope))) others.push(setting);
    if (scope === 'local' && FORMAT.test(name) && !UNUSED_FORMAT.has(name) && /^\w*$/.test(value))
      format.push(setting);
    // The subsection is free text and may contain dots. git runs no program with an empty name; the last value counts.
    if (/^filter\.[^]+\.(?:clean|smudge|process)$/.test(name)) programs.set(name, value);
    const mergeDriver = /^merge\.([^]+)\.driver$/.exec(name)?.[1];
    if (mergeDriver !== undefined) mergeDrivers.add(mergeDriver);
  }
  const filters = [...programs].flatMap(([name, value]) =>
    value === '' ? [] : [name.slice('filter.'.length, name.lastIndexOf('.'))],
  );
  return { format, others, filters, mergeDrivers: [...mergeDrivers] };
}

/** The text of the user's settings file. The settings that always win come last. */
export function userSettingsText({ others }: GitSettings): string {
  return settingsText([...others, ...ALWAYS]);
}

/** The text of a repository's settings file. */
export function repositorySettingsText({ format }: GitSettings): string {
  return settingsText([...format, ['core.bare', 'false']]);
}

function settingsText(settings: readonly Setting[]): string {
  return settings
    .map(([name, value]) => {
      const [, section = '', middle, key = ''] = /^([^.]+)(?:\.([^]*))?\.([^.]+)$/.exec(name) ?? [];
      const head = middle === undefined ? section : `${section} "${escaped(middle)}"`;
      return `[${head}]\n\t${key} = "${escaped(value).replaceAll('\n', '\\n')}"\n`;
    })
    .join('');
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
