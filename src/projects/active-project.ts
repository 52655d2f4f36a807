// Pure.
import { isAbsolute, join } from 'node:path';
import { BridgeError, ignoreBridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import type { AllowedPath, AllowedRoots } from './allowed-roots.js';

const SHOWN_CHARS = 400;

/** What the active project is by default. */
export interface ProjectDefaults {
  /** The working directory of the server. */
  readonly cwd?: string | undefined;
  /** The folders that the client works in. */
  readonly clientFolders?: () => Promise<readonly string[]>;
}

/**
 * The project for calls without a path: the one set by `set_active_project`; else the client's folder, if it is the only one
 * in the allowed roots; else the server's working directory, if it is in the allowed roots.
 */
export class ActiveProject {
  readonly #roots: AllowedRoots;
  readonly #defaults: ProjectDefaults;
  #chosen: AllowedPath | undefined;

  constructor(roots: AllowedRoots, defaults: ProjectDefaults = {}) {
    this.#roots = roots;
    this.#defaults = defaults;
  }

  /** Throws as `AllowedRoots.resolveDirectory`, and NO_ACTIVE_PROJECT for a relative path; the project stays as it was then. */
  async set(input: string): Promise<AllowedPath> {
    this.#chosen = await this.resolve(input);
    return this.#chosen;
  }

  /** Undefined when there is none. */
  async current(): Promise<AllowedPath | undefined> {
    if (this.#chosen !== undefined) return this.#chosen;
    const { cwd, clientFolders } = this.#defaults;
    const folders = await Promise.all(((await clientFolders?.()) ?? []).map((path) => this.#allowed(path)));
    const [first, ...others] = folders.filter((folder) => folder !== undefined);
    if (first !== undefined && others.length === 0) return first;
    return cwd === undefined ? undefined : this.#allowed(cwd);
  }

  /**
   * `input` as an absolute path, not yet checked: a relative one begins in the active project, which it is when left out.
   * `argument` is its name in the call. Throws NO_ALLOWED_ROOTS, NO_ACTIVE_PROJECT, and INVALID_ARGUMENTS for `~name`.
   */
  async absolute(input?: string, argument = 'path'): Promise<string> {
    this.#roots.requireSome();
    if (input?.startsWith('~') === true) return this.#roots.absolute(input);
    // Errors in these are reported when the path is checked.
    if (input !== undefined && (input === '' || isAbsolute(input))) return input;
    const project = await this.current();
    if (project === undefined) throw noProject(input, argument);
    return input === undefined ? project : join(project, input);
  }

  /** The directory `input`, else the active project, checked again: it may have been moved since. Throws NO_ACTIVE_PROJECT. */
  async resolve(input?: string, argument?: string): Promise<AllowedPath> {
    return this.#roots.resolveDirectory(await this.absolute(input, argument));
  }

  async #allowed(path: string): Promise<AllowedPath | undefined> {
    return this.#roots.resolveDirectory(path).catch(ignoreBridgeError);
  }
}

function noProject(input: string | undefined, argument: string): BridgeError {
  if (input === undefined) {
    return new BridgeError('NO_ACTIVE_PROJECT', 'No path specified and no active project set.', [
      { do: 'choose' },
      `A call with ${argument}, an absolute path within the allowed roots, needs none.`,
    ]);
  }
  return new BridgeError(
    'NO_ACTIVE_PROJECT',
    `Path '${oneLine(input, SHOWN_CHARS)}' is relative and no active project is set.`,
    ['Give an absolute path.', { do: 'choose' }],
  );
}
