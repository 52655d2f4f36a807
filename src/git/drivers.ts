import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { readRegularFile } from '../base/regular-file.js';
import { driversAmong, mergingDriversAmong } from './git-environment.js';
import type { Repository } from './repository.js';
import type { GitCall, GitRunner } from './run-git.js';

/** The user's own settings change seldom, and asking git costs as much as a small status. */
const USER_SETTINGS_LAST_MS = 60_000;
const MAX_CONFIG_BYTES = 1_000_000;
const LIST = ['config', '--list', '--name-only', '-z'] as const;
/** What must stand in a file of settings that defines a driver, or has others define one. */
const MAY_DEFINE = /filter|diff|include/i;

interface UserSettings {
  readonly drivers: readonly string[];
  /** True when what the user's settings include depends on the repository. */
  readonly isConditional: boolean;
  readonly readAtMs: number;
}

/** Knows the names of all drivers that attributes may choose in a repository, so that each can be switched off. */
export class Drivers {
  readonly #runner: GitRunner;
  readonly #clock: Clock;
  #user: UserSettings | undefined;

  constructor(runner: GitRunner, clock: Clock) {
    this.#runner = runner;
    this.#clock = clock;
  }

  /** `call` is how git is run in the repository. Throws as the runner, and NOT_A_REPOSITORY for settings that are no file. */
  async of(repository: Repository, call: Omit<GitCall, 'args'>): Promise<readonly string[]> {
    const files = [join(repository.commonDir, 'config'), join(repository.gitDir, 'config.worktree')];
    // git is asked only where the files could hold a driver at all: most hold none.
    const [user, ...texts] = await Promise.all([this.#userSettings(call.signal), ...files.map(settingsText)]);
    if (!user.isConditional && !texts.some((text) => MAY_DEFINE.test(text))) return user.drivers;
    return driversAmong(await this.#names({ ...call, args: LIST }));
  }

  /** As `of`, with merge drivers; git is always asked, since settings of branches look much like those of drivers. */
  async merging(call: Omit<GitCall, 'args'>): Promise<readonly string[]> {
    return mergingDriversAmong(await this.#names({ ...call, args: LIST }));
  }

  async #userSettings(signal: AbortSignal): Promise<UserSettings> {
    const now = this.#clock.monotonicMs();
    if (this.#user === undefined || now - this.#user.readAtMs > USER_SETTINGS_LAST_MS) {
      const names = await this.#names({ cwd: '/', args: LIST, signal });
      this.#user = {
        drivers: driversAmong(names),
        isConditional: names.some((name) => name.startsWith('includeif.')),
        readAtMs: now,
      };
    }
    return this.#user;
  }

  async #names(call: GitCall): Promise<string[]> {
    const { bytes } = await this.#runner.output(call);
    return bytes.toString('utf8').split('\0');
  }
}

async function settingsText(path: string): Promise<string> {
  const read = await readRegularFile(path, MAX_CONFIG_BYTES);
  if (read.state === 'ok') return read.bytes.toString('latin1');
  if (read.state === 'missing') return '';
  throw new BridgeError(
    'NOT_A_REPOSITORY',
    `The repository's settings '${path}' are not read: ${read.why}.`,
    'Repair the repository in a terminal.',
  );
}
