// Pure.
// What was allowed for a whole session, so that the same is not asked about again.
import type { SessionRequest } from '../../claude/session.js';

/** Each comes from one answer; so many cannot be answers of people any more. */
const MAX_GRANTS = 500;
/** Tools of which the file they work on is what is allowed, whatever they write into it. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['Read', 'Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

/**
 * The CLI keeps a yes for the session itself, but asks all the same about what its settings of this run have it ask about: in
 * mode cautious every command. Only what hooks or the stream tell is remembered here: a screen may show a part alone.
 */
export class SessionGrants {
  readonly #decisionIds = new Map<string, string>();

  /** The request was allowed for the session by this decision. */
  add(request: SessionRequest, decisionId: string): void {
    const key = keyOf(request);
    if (key === undefined) return;
    this.#decisionIds.set(key, decisionId);
    if (this.#decisionIds.size <= MAX_GRANTS) return;
    const [oldest] = this.#decisionIds.keys();
    if (oldest !== undefined) this.#decisionIds.delete(oldest);
  }

  /** The decision that allowed the same for the session. */
  find(request: SessionRequest): string | undefined {
    const key = keyOf(request);
    return key === undefined ? undefined : this.#decisionIds.get(key);
  }
}

/** Equal for requests of which a yes to one is a yes to the other; undefined for what is never remembered. */
function keyOf({ kind, source, tool, input, folder }: SessionRequest): string | undefined {
  if (kind !== 'permission' || source !== 'exact') return undefined;
  return JSON.stringify([tool, subjectOf(tool, input, folder)]);
}

function subjectOf(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  folder: string | undefined,
): unknown {
  if (FILE_TOOLS.has(tool)) return input['file_path'] ?? input['notebook_path'] ?? input;
  if (tool === 'WebFetch') return hostOf(input['url']) ?? input;
  if (tool === 'WebSearch') return null;
  if (tool !== 'Bash') return input;
  // The same command elsewhere is another one; what it is called and how long it may take makes no difference.
  const { description: _, timeout: __, ...rest } = input;
  return [rest, folder ?? null];
}

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : undefined;
}
