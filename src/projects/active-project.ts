import { isAbsolute, join } from 'node:path';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import type { AllowedPath, AllowedRoots } from './allowed-roots.js';

const SHOWN_CHARS = 400;

/** The project set by `set_active_project`, for calls without a path. */
export class ActiveProject {
  readonly #roots: AllowedRoots;
  #current: AllowedPath | undefined;

  constructor(roots: AllowedRoots) {
    this.#roots = roots;
  }

  /** Throws as `AllowedRoots.resolveDirectory`, and NO_ACTIVE_PROJECT for a relative path; the project stays as it was then. */
  async set(input: string): Promise<AllowedPath> {
    this.#current = await this.#roots.resolveDirectory(this.absolute(input));
    return this.#current;
  }

  current(): AllowedPath | undefined {
    return this.#current;
  }

  /**
   * `input` as an absolute path, not yet checked: a relative one begins in the active project. Throws NO_ALLOWED_ROOTS,
   * NO_ACTIVE_PROJECT.
   */
  absolute(input: string): string {
    this.#roots.requireSome();
    // Errors in these are reported when the path is checked.
    if (input === '' || isAbsolute(input) || input.startsWith('~')) return input;
    if (this.#current !== undefined) return join(this.#current, input);
    throw new BridgeError(
      'NO_ACTIVE_PROJECT',
      `Path '${oneLine(input, SHOWN_CHARS)}' is relative and no active project is set.`,
      'Call set_active_project with the directory of the project, or give an absolute path.',
    );
  }

  /** The directory `input`, else the active project, checked again: it may have been moved since. Throws NO_ACTIVE_PROJECT. */
  async resolve(input?: string): Promise<AllowedPath> {
    this.#roots.requireSome();
    const path = input === undefined ? this.#current : this.absolute(input);
    if (path !== undefined) return this.#roots.resolveDirectory(path);
    throw new BridgeError(
      'NO_ACTIVE_PROJECT',
      'No path specified and no active project set. Use set_active_project first.',
      'Call set_active_project with the directory of the project, or give a path with this call.',
    );
  }
}
