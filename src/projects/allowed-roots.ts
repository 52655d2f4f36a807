import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { plainPath } from './name-list.js';
import { isWithin, walkPath } from './walk-path.js';

declare const allowed: unique symbol;

/** A real path inside the allowed roots. Only `AllowedRoots` makes one, so a raw path does not compile where this is asked for. */
export type AllowedPath = string & { readonly [allowed]: true };

const SHOWN_CHARS = 400;
const WORDS_HINT = 'Give an absolute path, or one that begins with ~/.';

/** Judges paths by what they really are: `~`, `.`, `..` and links are resolved first, then compared folder by folder. */
export class AllowedRoots {
  readonly roots: readonly string[];
  readonly #homeDir: string;
  /** Where the roots led when this object was made. */
  readonly #realRoots: Promise<readonly string[]>;
  /** What belongs to the bridge itself, in the form in which paths are compared whatever their case. */
  readonly #own: Promise<readonly string[]>;

  /**
   * `roots` are absolute, or begin with `~`. A root need not exist, and may be a link. Its links are resolved once, here: a root
   * that is replaced by a link later, or comes back as one, allows nothing behind that link. `own`: absolute paths of the bridge's
   * own settings and state; they and all below them are outside, also within a root.
   */
  constructor(roots: readonly string[], homeDir: string, own: readonly string[] = []) {
    this.#homeDir = homeDir;
    this.roots = roots.map((root) => {
      const expanded = this.#expanded(root);
      if (isAbsolute(expanded)) return resolve(expanded);
      const found = `allowed_roots: found ${JSON.stringify(root)}, expected an absolute path.`;
      throw new BridgeError('CONFIG_ERROR', found, WORDS_HINT);
    });
    this.#realRoots = Promise.all(this.roots.map(realRoot));
    this.#own = Promise.all(own.map(realRoot)).then((real) => [...own, ...real].map(plainPath));
  }

  /** Throws NO_ALLOWED_ROOTS when there are none. */
  requireSome(): void {
    if (this.roots.length > 0) return;
    throw new BridgeError(
      'NO_ALLOWED_ROOTS',
      'No allowed roots are set, so no path can be used.',
      'Set "allowed_roots" in ~/.config/mcp-claude-bridge/config.json, which `npx -y claude-code-bridge init` writes, or set ' +
        'MCP_ALLOWED_ROOTS to absolute paths separated by commas. Then restart the server.',
    );
  }

  /**
   * A path that exists, or one that does not exist yet and would lie inside the roots. Throws NO_ALLOWED_ROOTS,
   * INVALID_ARGUMENTS for what is no absolute path, and PATH_NOT_ALLOWED alike for all that is outside, there or not.
   */
  async resolve(input: string): Promise<AllowedPath> {
    return (await this.#judge(input)).path;
  }

  /** An existing directory. Throws as `resolve`, and PATH_NOT_FOUND or NOT_A_DIRECTORY for a path inside the roots. */
  async resolveDirectory(input: string): Promise<AllowedPath> {
    const { path, exists } = await this.#judge(input);
    if (!exists) {
      const hint = 'Correct the path, or create the directory first.';
      throw new BridgeError('PATH_NOT_FOUND', `Path '${shown(input)}' does not exist.`, hint);
    }
    if (await isDirectory(path)) return path;
    const message = `Path '${shown(input)}' is not a directory.`;
    throw new BridgeError('NOT_A_DIRECTORY', message, 'Give the directory of a project.');
  }

  async #judge(input: string): Promise<{ readonly path: AllowedPath; readonly exists: boolean }> {
    this.requireSome();
    const absolute = this.absolute(input);
    const [realRoots, own, known] = await Promise.all([this.#realRoots, this.#own, realIfThere(absolute)]);
    const isInside = (path: string) => realRoots.some((root) => isWithin(path, root));
    if (known !== undefined && isInside(known) && isOwn(known, own)) throw ownRefusal(input);
    // Most paths exist and lie inside; only the others have to be walked link by link.
    if (known !== undefined && isInside(known)) return { path: known as AllowedPath, exists: true };
    const walk = await walkPath(absolute, isInside);
    if (!isInside(walk.real)) throw this.refusal(input, walk.ledTo);
    if (isOwn(walk.real, own)) throw ownRefusal(input);
    if (walk.error !== undefined) {
      const why = walk.error === 'ELOOP' ? 'its links go round in a circle' : walk.error;
      const message = `Path '${shown(input)}' cannot be reached: ${why}.`;
      throw new BridgeError(
        'PATH_NOT_FOUND',
        message,
        'Correct the path, or the permissions of its folders.',
      );
    }
    return { path: walk.real as AllowedPath, exists: walk.exists };
  }

  /**
   * The allowed path for one that an open descriptor is known to have, or undefined when that lies outside. `real` comes
   * from the kernel, never from a caller.
   */
  async admit(real: string): Promise<AllowedPath | undefined> {
    return (await this.look())(real);
  }

  /** The check of `admit` for many paths at once. */
  async look(): Promise<(real: string) => AllowedPath | undefined> {
    const [realRoots, own] = await Promise.all([this.#realRoots, this.#own]);
    return (real) =>
      realRoots.some((root) => isWithin(real, root)) && !isOwn(real, own) ? (real as AllowedPath) : undefined;
  }

  /** Throws PATH_NOT_ALLOWED for a real path that belongs to the bridge itself. */
  async refuseOwn(real: string): Promise<void> {
    if (isOwn(real, await this.#own)) throw ownRefusal(real);
  }

  /** The part of an absolute path below the innermost root that holds it, links resolved or not; all of it outside. */
  async belowRoot(path: string): Promise<string> {
    const holding = [...this.roots, ...(await this.#realRoots)].filter((root) => isWithin(path, root));
    const [innermost] = holding.sort((one, other) => other.length - one.length);
    return innermost === undefined ? path : path.slice(innermost.length).replace(/^\//, '');
  }

  /** `input` as an absolute, normalized path, not yet judged. Throws INVALID_ARGUMENTS. */
  absolute(input: string): string {
    if (input === '') throw new BridgeError('INVALID_ARGUMENTS', 'The path is empty.', WORDS_HINT);
    const refuse = (why: string) =>
      new BridgeError('INVALID_ARGUMENTS', `Path '${shown(input)}' ${why}.`, WORDS_HINT);
    if (input.includes('\0')) throw refuse('holds a NUL character, which no path can');
    // A lone surrogate would be written as U+FFFD, which is another path.
    if (/\p{Surrogate}/u.test(input)) throw refuse('holds half of a character');
    const expanded = this.#expanded(input);
    if (isAbsolute(expanded)) return resolve(expanded);
    if (input.startsWith('~')) throw refuse("begins with another user's home, which is not looked up");
    throw refuse('is relative');
  }

  #expanded(path: string): string {
    return path === '~' || path.startsWith('~/') ? this.#homeDir + path.slice(1) : path;
  }

  /** What a caller is told of a path outside; the same whether something is there or not. */
  refusal(input: string, leadsTo?: string): BridgeError {
    const ledTo = leadsTo === undefined ? '' : ` It leads to '${shown(leadsTo)}' through a link.`;
    return new BridgeError(
      'PATH_NOT_ALLOWED',
      `Path '${shown(input)}' is not within allowed roots. Allowed roots: ${this.roots.map(shown).join(', ')}${ledTo === '' ? '' : `.${ledTo}`}`,
      'Use a path inside an allowed root, or ask the user to add one to "allowed_roots" in the settings and restart the server.',
    );
  }
}

function isOwn(real: string, own: readonly string[]): boolean {
  if (own.length === 0) return false;
  const plain = plainPath(real);
  return own.some((place) => isWithin(plain, place));
}

function ownRefusal(input: string): BridgeError {
  return new BridgeError(
    'PATH_NOT_ALLOWED',
    `Path '${shown(input)}' belongs to the bridge itself: its settings or its state, which no tool reads or writes.`,
    'Use another path. The user can look at the settings and change them; status and output of tasks have tools of their own.',
  );
}

/** One that cannot be reached now is taken as it is written: without links. */
async function realRoot(root: string): Promise<string> {
  const real = await realIfThere(root);
  if (real !== undefined) return real;
  const walk = await walkPath(root, () => false);
  return walk.error === undefined ? walk.real : root;
}

/** undefined for a path that does not exist, or that nobody may look at. */
async function realIfThere(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function shown(path: string): string {
  return oneLine(path, SHOWN_CHARS);
}

async function isDirectory(path: AllowedPath): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    // Removed since the walk saw it: whatever it was, it is no directory now.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}
