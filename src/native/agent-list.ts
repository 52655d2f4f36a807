// Pure.
import { z } from 'zod';
import { withinMs, type Clock } from '../base/clock.js';
import { oneLine } from '../base/text/text.js';
import type { Patience } from '../tasks/other-sessions.js';

/** While somebody looks, the sessions are listed this often. */
const FRESH_MS = 2_000;
/** After a failure they are listed again so much later. */
const RETRY_MS = 10_000;
/** For so long the last list is used while there is no newer one. */
const USABLE_MS = 30_000;
/** Without a usable list a reader waits so long for one, from the start of the listing. */
const WAIT_MS = 2_000;
/** More sessions than one person has. */
const MAX_SESSIONS = 200;
const MAX_CHARS = 80;
/** In the year 2096. */
const MAX_START_MS = 4e12;

/** They are shown inside of sentences. */
const words = z.string().transform((text) => oneLine(text, MAX_CHARS));
/** One entry of `claude agents --json --all`; what is not named here is another version's. */
const agentSchema = z.looseObject({
  sessionId: z.guid(),
  cwd: z.string(),
  kind: words,
  /** Milliseconds since the epoch. */
  startedAt: z.int().min(0).max(MAX_START_MS),
  /** Left out when no process has the session. */
  pid: z.int().positive().optional(),
  /** Names a background session for `claude attach` and `claude stop`. */
  id: words.optional(),
  name: words.optional(),
  /** Of a session with a process: `idle`, `busy` or `waiting`. */
  status: words.optional(),
  waitingFor: words.optional(),
  /** Of a background session: such as `working`, `stopped`. */
  state: words.optional(),
});
export type AgentSession = z.infer<typeof agentSchema>;

export interface AgentListOptions {
  readonly clock: Clock;
  /** The output of `claude agents --json --all`. */
  readonly print: () => Promise<string>;
  /** Called with each error that differs from the one before. */
  readonly onError: (error: unknown) => void;
}

/** The sessions that Claude Code itself lists. */
export class AgentList {
  readonly #options: AgentListOptions;
  #last: { readonly atMs: number; readonly sessions: readonly AgentSession[] } | undefined;
  #listing: { readonly sinceMs: number; readonly end: Promise<void> } | undefined;
  #nextMs = 0;
  #lastError = '';

  constructor(options: AgentListOptions) {
    this.#options = options;
  }

  /**
   * The last list at once, at most 30 s old; one of more than 2 s is renewed for the next reader. Without such a list it waits at most
   * 2 s for one; with the patience `whole`, until the listing has ended. Never rejects: without an answer there are none.
   */
  async read(patience: Patience = 'look'): Promise<readonly AgentSession[]> {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#nextMs) this.#listing ??= { sinceMs: nowMs, end: this.#list(nowMs) };
    const usable = this.#usable();
    if (usable !== undefined) return usable;
    const listing = this.#listing;
    if (patience === 'whole') await listing?.end;
    const leftMs = listing === undefined ? 0 : listing.sinceMs + WAIT_MS - nowMs;
    if (listing !== undefined && leftMs > 0) await withinMs(clock, leftMs, listing.end);
    return this.#usable() ?? [];
  }

  #usable(): readonly AgentSession[] | undefined {
    const last = this.#last;
    return last !== undefined && this.#options.clock.monotonicMs() - last.atMs < USABLE_MS
      ? last.sessions
      : undefined;
  }

  async #list(sinceMs: number): Promise<void> {
    const { clock, print, onError } = this.#options;
    try {
      this.#last = { sessions: parseAgents(await print()), atMs: sinceMs };
      this.#lastError = '';
      this.#nextMs = sinceMs + FRESH_MS;
    } catch (error) {
      if (String(error) !== this.#lastError) onError(error);
      this.#lastError = String(error);
      this.#nextMs = clock.monotonicMs() + RETRY_MS;
    } finally {
      this.#listing = undefined;
    }
  }
}

/** Pure. Entries of an unknown form are left out; those with a process come first. Throws for what is no JSON list. */
export function parseAgents(output: string): readonly AgentSession[] {
  const sessions = z
    .array(z.unknown())
    .parse(JSON.parse(output))
    .flatMap((entry) => agentSchema.safeParse(entry).data ?? []);
  const running = sessions.filter(({ pid }) => pid !== undefined);
  const ended = sessions.filter(({ pid }) => pid === undefined);
  return [...running, ...ended].slice(0, MAX_SESSIONS);
}
