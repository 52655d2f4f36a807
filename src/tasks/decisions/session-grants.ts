// Pure.
// What was allowed for a whole session, so that the same is not asked about again.
import { resolve } from 'node:path';
import { addressOf, commandOf, pathsOf, toolRow } from '../../approvals/tool-table.js';
import type { SessionRequest } from '../../claude/session.js';

/** Each comes from one answer; so many cannot be answers of people any more. */
const MAX_GRANTS = 500;

/**
 * Claude Code does not get them: what a rule asks about it asks again. Only what hooks or the stream tell is remembered: a
 * screen may show a part alone. A file is one by its real path when it was asked about, when it was allowed, and at each use.
 */
export class SessionGrants {
  readonly #realPath: (path: string) => Promise<string>;
  readonly #decisionIds = new Map<string, string>();
  readonly #asked = new WeakMap<SessionRequest, string>();

  constructor(realPath: (path: string) => Promise<string>) {
    this.#realPath = realPath;
  }

  /** The request was allowed for the session by this decision; `find` was called with it before. */
  async add(request: SessionRequest, decisionId: string): Promise<void> {
    const key = await this.#keyOf(request);
    if (key === undefined || key !== this.#asked.get(request)) return;
    this.#decisionIds.set(key, decisionId);
    if (this.#decisionIds.size <= MAX_GRANTS) return;
    const [oldest] = this.#decisionIds.keys();
    if (oldest !== undefined) this.#decisionIds.delete(oldest);
  }

  /** The decision that allowed the same for the session. */
  async find(request: SessionRequest): Promise<string | undefined> {
    const key = await this.#keyOf(request);
    if (key === undefined) return undefined;
    this.#asked.set(request, key);
    return this.#decisionIds.get(key);
  }

  /** Equal for requests of which a yes to one is a yes to the other; undefined for what is never remembered. */
  async #keyOf({ kind, source, tool, input, folder }: SessionRequest): Promise<string | undefined> {
    if (kind !== 'permission' || source !== 'exact') return undefined;
    const effect = toolRow(tool)?.effect;
    const isFile = effect === 'reads' || effect === 'edits';
    const isCommand = commandOf(tool, input) !== undefined;
    const paths = pathsOf(tool, input).map((path) => resolve(folder ?? '/', path));
    // A command in a folder that is not known may be another one.
    if (isFile ? paths.length === 0 : isCommand && folder === undefined) return undefined;
    const real = await Promise.all(paths.map((path) => this.#realPath(path)));
    // What a command is called and how long it may take makes no difference.
    const { description: _, timeout: __, ...rest } = input;
    const host = tool === 'WebFetch' ? addressOf(tool, input)?.host : undefined;
    const isAny = isFile || tool === 'WebSearch';
    // The same in another folder is another one.
    const subject = isAny ? null : (host ?? [isCommand ? rest : input, folder ?? null]);
    return JSON.stringify([tool, paths, real, subject]);
  }
}
