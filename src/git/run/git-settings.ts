// Pure: which settings of the user and of a repository git gets to know. Only what is named here, so none that names a program.
import { join } from 'node:path';

/** A name as `git config --list` gives it: in small letters but for what is in the middle. */
export type Setting = readonly [name: string, value: string];

export interface GitSettings {
  /** What git reads from the repository's own file alone: how the repository is stored. */
  readonly format: readonly Setting[];
  readonly others: readonly Setting[];
  /** Names of the drivers that the settings define; git does not get to know them. */
  readonly filters: readonly string[];
  readonly mergeDrivers: readonly string[];
}

export interface UserFolders {
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

export const noSettings: GitSettings = { format: [], others: [], filters: [], mergeDrivers: [] };

/** Texts, numbers and switches that say whose a commit is, how files are compared with what git holds, and what follows what. */
const KEPT =
  /^(?:user\.(?:name|email|useconfigonly)|(?:author|committer)\.(?:name|email)|core\.(?:filemode|ignorecase|precomposeunicode|symlinks|autocrlf|eol|excludesfile|checkstat|trustctime|sharedrepository|logallrefupdates|sparsecheckout|sparsecheckoutcone)|index\.sparse|branch\.[^]+\.(?:remote|merge)|remote\.[^]+\.fetch)$/;
/** What counts only from the user: whom git trusts, and how a new repository is made. */
const KEPT_OF_USER =
  /^(?:safe\.directory|init\.(?:defaultbranch|templatedir|defaultobjectformat|defaultrefformat))$/;
const USER_SCOPES: ReadonlySet<string> = new Set(['system', 'global']);
const FORMAT = /^(?:core\.(?:repositoryformatversion|sharedrepository)|extensions\.[a-z]+)$/;
/** Settings of a file of the repository's own, which git gets from the list; and a remote that missing objects are fetched from. */
const UNUSED_FORMAT: ReadonlySet<string> = new Set(['extensions.worktreeconfig', 'extensions.partialclone']);
const PATHS = /^(?:core\.excludesfile|safe\.directory|init\.templatedir)$/;

/** Switches that hold whatever the settings say: nothing is fetched, nothing is done beside what is asked. */
const ALWAYS: readonly Setting[] = [
  ['core.hookspath', '/dev/null'],
  ['core.untrackedcache', 'false'],
  // Else `git diff` writes the index, and an agent's `git add` beside it fails on index.lock.
  ['diff.autorefreshindex', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
  ['safe.barerepository', 'explicit'],
];

/** What is kept of the output of `git config --list --show-scope -z`. */
export function settingsAmong(listed: string, user: UserFolders): GitSettings {
  const fields = listed.split('\0');
  const config = user.xdgConfigHome ?? join(user.homeDir, '.config');
  const format: Setting[] = [];
  // Where git looks by itself; in the folder that it gets for a home there is none.
  const others: Setting[] = [['core.excludesfile', join(config, 'git', 'ignore')]];
  const filters = new Set<string>();
  const mergeDrivers = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const scope = fields[at] ?? '';
    const setting = settingOf(fields[at + 1] ?? '', user.homeDir);
    const [name, value] = setting;
    if (KEPT.test(name) || (KEPT_OF_USER.test(name) && USER_SCOPES.has(scope))) others.push(setting);
    if (scope === 'local' && FORMAT.test(name) && !UNUSED_FORMAT.has(name) && /^\w*$/.test(value))
      format.push(setting);
    // The name in the middle is free text: it may hold dots.
    const filter = /^filter\.([^]+)\.[^.]+$/.exec(name)?.[1];
    if (filter !== undefined) filters.add(filter);
    const mergeDriver = /^merge\.([^]+)\.driver$/.exec(name)?.[1];
    if (mergeDriver !== undefined) mergeDrivers.add(mergeDriver);
  }
  return { format, others, filters: [...filters], mergeDrivers: [...mergeDrivers] };
}

/** The text of a file of settings; those that always hold come last, and so win. */
export function userSettingsText({ others }: GitSettings): string {
  return settingsText([...others, ...ALWAYS]);
}

/** The text of a repository's own file. */
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
  // A name alone is a switch that is on.
  if (end < 0) return [field, 'true'];
  const [name, value] = [field.slice(0, end), field.slice(end + 1)];
  return [name, PATHS.test(name) && value.startsWith('~/') ? join(homeDir, value.slice(2)) : value];
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&');
}
