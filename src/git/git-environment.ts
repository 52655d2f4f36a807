// Pure: the environment in which git runs. Nothing of it comes from outside but where programs and the user's settings lie.
import { delimiter, isAbsolute } from 'node:path';

/** What of the server's own environment git gets to know. */
export interface GitSurroundings {
  readonly path: string | undefined;
  readonly homeDir: string;
  readonly xdgConfigHome: string | undefined;
}

/** A setting that beats every file, in the way of `git -c`. */
export type Override = readonly [name: string, value: string];

/** A transport of this name does not exist: every one is refused, whatever `protocol.<name>.allow` says. */
const NO_PROTOCOL = 'none';

/**
 * What a repository may set to run a program, to read a file of its choice, or to change the form of an answer. Order: programs
 * that git starts by itself, then transports, then files, then forms.
 */
const fixedOverrides: readonly Override[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.askPass', 'true'],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  ['core.alternateRefsCommand', 'false'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  ['safe.bareRepository', 'explicit'],
  ['core.attributesFile', '/dev/null'],
  ['diff.orderFile', '/dev/null'],
  ['core.untrackedCache', 'false'],
  // Else `git diff` writes the index, and an agent's `git add` beside it fails on index.lock.
  ['diff.autoRefreshIndex', 'false'],
  ['color.ui', 'false'],
  ['core.quotePath', 'true'],
  ['i18n.logOutputEncoding', 'UTF-8'],
  ['diff.suppressBlankEmpty', 'false'],
  ['status.showStash', 'false'],
  ['log.follow', 'false'],
];

/** What switches a driver off: an empty command is none, and one that is not required may be missing. */
export function driverOverrides(names: readonly string[]): Override[] {
  const overrides: Override[] = [];
  for (const name of names) {
    if (name.startsWith('filter.')) {
      overrides.push([`${name}.clean`, ''], [`${name}.smudge`, ''], [`${name}.process`, '']);
      overrides.push([`${name}.required`, 'false']);
    } else if (name.startsWith('merge.')) {
      // An empty command would take our side for the result; one that fails is a conflict.
      overrides.push([`${name}.driver`, 'false']);
    } else {
      overrides.push([`${name}.command`, ''], [`${name}.textconv`, '']);
    }
  }
  return overrides;
}

/** As `driversAmong`, with `merge.<name>`: for what merges, or applies a patch. */
export function mergingDriversAmong(settings: readonly string[]): string[] {
  const merging = settings.map((setting) => /^(merge\.[^]+)\.driver$/.exec(setting)?.[1]);
  return [...driversAmong(settings), ...new Set(merging.filter((name) => name !== undefined))];
}

/** `filter.<name>` and `diff.<name>` of every driver among the names of settings, as `git config --list --name-only` gives them. */
export function driversAmong(settings: readonly string[]): string[] {
  const drivers = new Set<string>();
  for (const setting of settings) {
    // The name in the middle is free text: it may hold dots and line ends.
    const driver = /^((?:filter|diff)\.[^]+)\.[^.]+$/.exec(setting)?.[1];
    if (driver !== undefined) drivers.add(driver);
  }
  return [...drivers];
}

export function gitEnvironment(
  surroundings: GitSurroundings,
  extra: Readonly<Record<string, string>>,
  overrides: readonly Override[],
): Record<string, string> {
  const env: Record<string, string> = {
    HOME: surroundings.homeDir,
    PATH: absoluteFolders(surroundings.path).join(delimiter),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: NO_PROTOCOL,
    GIT_PAGER: 'cat',
    GIT_ASKPASS: 'true',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
    ...extra,
  };
  if (surroundings.xdgConfigHome !== undefined) env['XDG_CONFIG_HOME'] = surroundings.xdgConfigHome;
  const all = [...fixedOverrides, ...overrides];
  env['GIT_CONFIG_COUNT'] = String(all.length);
  for (const [index, [name, value]] of all.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = name;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

/** A relative folder of PATH would be looked for in the repository. */
export function absoluteFolders(path: string | undefined): string[] {
  return (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).filter((folder) => isAbsolute(folder));
}
