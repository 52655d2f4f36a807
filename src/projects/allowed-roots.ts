import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { BridgeError, ignoreSystemError, systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { plainPath } from './name-list.js';
import { walkPath } from './walk-path.js';
import { isWithin } from './path-in-project.js';

declare const allowed: unique symbol;

/** A real path inside the allowed roots. Only `AllowedRoots` creates one, so an unchecked path does not compile in its place. */
export type AllowedPath = string & { readonly [allowed]: true };

const SHOWN_CHARS = 400;
const PATH_HINT = 'Give an absolute path, or one that begins with ~/.';

/** Checks paths against the allowed roots. `~`, `.`, `..` and links are resolved first, then paths are compared by folders. */
export class AllowedRoots {
  readonly roots: readonly string[];
  readonly #homeDir: string;
  readonly #command: string;
  /** The real paths of the roots when this object was created. */
  readonly #realRoots: Promise<readonly string[]>;
  /** The bridge's own paths, normalized by `plainPath` for a comparison that ignores case. */
  readonly #own: Promise<readonly string[]>;

  /**
   * `roots` are absolute or begin with `~`. A root need not exist and may be a link. Its links are resolved once, here: a root
   * that is later replaced by a link does not allow the link's target. `own` holds absolute paths of the bridge's own settings
   * and state; they and everything below them are never allowed, even within a root. `command` is how a person runs the bridge.
   */
  constructor(
    roots: readonly string[],
    homeDir: string,
    own: readonly string[] = [],
    command = 'claude-code-bridge',
    resolveRoot = realRoot,
  ) {
    this.#homeDir = homeDir;
    this.#command = command;
    this.roots = roots.map((root) => {
      const expanded = this.#expanded(root);
      if (isAbsolute(expanded)) return resolve(expanded);
      const found = `allowed_roots: found ${JSON.stringify(root)}, expected an absolute path.`;
      throw new BridgeError('CONFIG_ERROR', found, PATH_HINT);
    });
    this.#realRoots = Promise.all(this.roots.map(resolveRoot));
    this.#own = Promise.all(own.map(realRoot)).then((real) => [...own, ...real].map(plainPath));
  }

  /** The roots of another process, as its `realRoots` gave them: a link that has replaced one since is not followed. */
  static ofReal(roots: readonly string[], homeDir: string): AllowedRoots {
    return new AllowedRoots(roots, homeDir, [], undefined, (root) => Promise.resolve(root));
  }

  /** The real paths of the roots as they were at the start. */
  realRoots(): Promise<readonly string[]> {
    return this.#realRoots;
  }

  /** Throws NO_ALLOWED_ROOTS when no roots are set. */
  requireSome(): void {
    if (this.roots.length > 0) return;
    throw new BridgeError(
      'NO_ALLOWED_ROOTS',
      'No allowed roots are set, so no path can be used.',
      'Set "allowed_roots" in ~/.config/mcp-claude-bridge/config.json, which `' +
        `${this.#command} init\` writes, or set ` +
        'MCP_ALLOWED_ROOTS to absolute paths separated by commas. Then restart the server.',
    );
  }

  /**
   * The real path of `input`, which need not exist yet. Throws NO_ALLOWED_ROOTS, INVALID_ARGUMENTS for anything but an absolute
   * path, and PATH_NOT_ALLOWED for a path outside the roots, with the same message whether it exists or not.
   */
  async resolve(input: string): Promise<AllowedPath> {
    return (await this.#check(input)).path;
  }

  /** An existing directory. Throws like `resolve`, and PATH_NOT_FOUND or NOT_A_DIRECTORY for a path inside the roots. */
  async resolveDirectory(input: string): Promise<AllowedPath> {
    const { path, exists } = await this.#check(input);
    if (!exists) {
      const hint = 'Correct the path, or create the directory first.';
      throw new BridgeError('PATH_NOT_FOUND', `Path '${shown(input)}' does not exist.`, hint);
    }
    if (await isDirectory(path)) return path;
    const message = `Path '${shown(input)}' is not a directory.`;
    throw new BridgeError('NOT_A_DIRECTORY', message, 'Give the directory of a project.');
  }

  async #check(input: string): Promise<{ readonly path: AllowedPath; readonly exists: boolean }> {
    this.requireSome();
    const absolute = this.absolute(input);
    const [realRoots, own, known] = await Promise.all([this.#realRoots, this.#own, realIfExists(absolute)]);
    const isInside = (path: string) => realRoots.some((root) => isWithin(path, root));
    if (known !== undefined && isInside(known) && isOwn(known, own)) throw ownRefusal(input);
    // Most paths exist inside the roots. Only the others need a walk link by link.
    if (known !== undefined && isInside(known)) return { path: known as AllowedPath, exists: true };
    const walk = await walkPath(absolute, isInside);
    if (!isInside(walk.real)) throw this.refusal(input, walk.ledTo);
    if (isOwn(walk.real, own)) throw ownRefusal(input);
    if (walk.error !== undefined) {
      const why = walk.error === 'ELOOP' ? 'its links form a loop' : walk.error;
      const message = `Path '${shown(input)}' cannot be reached: ${why}.`;
      throw new BridgeError(
        'PATH_NOT_FOUND',
        message,
        'Correct the path, or the permissions of its folders.',
      );
    }
    return { path: walk.real as AllowedPath, exists: walk.exists };
  }

  /** Returns `real` as an allowed path, or undefined when it is outside. `real` must come from the kernel, never from a caller. */
  async admit(real: string): Promise<AllowedPath | undefined> {
    return (await this.pathCheck())(real);
  }

  /** Returns the check of `admit` as a synchronous function. */
  async pathCheck(): Promise<(real: string) => AllowedPath | undefined> {
    const [realRoots, own] = await Promise.all([this.#realRoots, this.#own]);
    return (real) =>
      realRoots.some((root) => isWithin(real, root)) && !isOwn(real, own) ? (real as AllowedPath) : undefined;
  }

  /** Throws PATH_NOT_ALLOWED for a real path of the bridge's own settings or state. */
  async refuseOwn(real: string): Promise<void> {
    if (isOwn(real, await this.#own)) throw ownRefusal(real);
  }

  /** The part of an absolute path below the innermost root that contains it; the whole path when no root does. */
  async belowRoot(path: string): Promise<string> {
    const containing = [...this.roots, ...(await this.#realRoots)].filter((root) => isWithin(path, root));
    const [innermost] = containing.sort((one, other) => other.length - one.length);
    return innermost === undefined ? path : path.slice(innermost.length).replace(/^\//, '');
  }

  /** Makes `input` an absolute, normalized path without checking it against the roots. Throws INVALID_ARGUMENTS. */
  absolute(input: string): string {
    if (input === '') throw new BridgeError('INVALID_ARGUMENTS', 'The path is empty.', PATH_HINT);
    const refuse = (why: string) =>
      new BridgeError('INVALID_ARGUMENTS', `Path '${shown(input)}' ${why}.`, PATH_HINT);
    if (input.includes('\0')) throw refuse('contains a NUL character, which paths cannot');
    // A lone surrogate would be encoded as U+FFFD, which names another path.
    if (/\p{Surrogate}/u.test(input)) throw refuse('contains half of a character (a lone surrogate)');
    const expanded = this.#expanded(input);
    if (isAbsolute(expanded)) return resolve(expanded);
    if (input.startsWith('~')) throw refuse("begins with another user's home folder, which is not supported");
    throw refuse('is relative');
  }

  #expanded(path: string): string {
    return path === '~' || path.startsWith('~/') ? this.#homeDir + path.slice(1) : path;
  }

  /** The error for a path outside the roots; it is the same whether the path exists or not. */
  refusal(input: string, leadsTo?: string): BridgeError {
    const ledTo = leadsTo === undefined ? '' : ` It leads to '${shown(leadsTo)}' through a link.`;
    return new BridgeError(
      'PATH_NOT_ALLOWED',
      `Path '${shown(input)}' is not within allowed roots. Allowed roots: ${this.roots.map(shown).join(', ')}${ledTo === '' ? '' : `.${ledTo}`}`,
      `Use a path inside an allowed root, or add one with \`${this.#command} init --roots <folder>\` (the setting allowed_roots). A server reads them when it starts.`,
    );
  }
}

function isOwn(real: string, own: readonly string[]): boolean {
  if (own.length === 0) return false;
  const plain = plainPath(real);
  return own.some((path) => isWithin(plain, path));
}

function ownRefusal(input: string): BridgeError {
  return new BridgeError(
    'PATH_NOT_ALLOWED',
    `Path '${shown(input)}' belongs to the bridge's own settings or state, which tools cannot read or write.`,
    'Use another path. Only the user can change the settings; for the status and output of tasks, use their tools.',
  );
}

/** The real path of a root; a root that cannot be reached stays as written. */
async function realRoot(root: string): Promise<string> {
  const real = await realIfExists(root);
  if (real !== undefined) return real;
  const walk = await walkPath(root, () => false);
  return walk.error === undefined ? walk.real : root;
}

/** Undefined for a path that does not exist or is not accessible. */
async function realIfExists(path: string): Promise<string | undefined> {
  return realpath(path).catch(ignoreSystemError);
}

function shown(path: string): string {
  return oneLine(path, SHOWN_CHARS);
}

async function isDirectory(path: AllowedPath): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    // It was removed after the walk.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}
