import { z } from 'zod';
import type { Clock } from '../base/clock.js';

/** While somebody looks, the sessions are listed this often. */
const FRESH_MS = 2_000;
/** More sessions than one person has. */
const MAX_SESSIONS = 200;
const MAX_CHARS = 1_000;

const words = z.string().transform((text) => text.slice(0, MAX_CHARS));
/** One entry of `claude agents --json --all`; what is not named here is another version's. */
const agentSchema = z.looseObject({
  sessionId: z.guid(),
  cwd: z.string(),
  kind: words,
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
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
  #last: { readonly atMs: number; readonly sessions: Promise<readonly AgentSession[]> } | undefined;
  #lastError = '';

  constructor(options: AgentListOptions) {
    this.#options = options;
  }

  /** At most two seconds old. Never rejects: without an answer there are none. */
  read(): Promise<readonly AgentSession[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#last === undefined || nowMs - this.#last.atMs >= FRESH_MS)
      this.#last = { atMs: nowMs, sessions: this.#list() };
    return this.#last.sessions;
  }

  async #list(): Promise<readonly AgentSession[]> {
    try {
      const sessions = parseAgents(await this.#options.print());
      this.#lastError = '';
      return sessions;
    } catch (error) {
      if (String(error) !== this.#lastError) this.#options.onError(error);
      this.#lastError = String(error);
      return [];
    }
  }
}

/** Pure. Entries of an unknown form are left out. Throws for what is no JSON list. */
export function parseAgents(output: string): readonly AgentSession[] {
  return z
    .array(z.unknown())
    .parse(JSON.parse(output))
    .slice(0, MAX_SESSIONS)
    .flatMap((entry) => agentSchema.safeParse(entry).data ?? []);
}
