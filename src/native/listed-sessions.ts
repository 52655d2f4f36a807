// Pure.
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { MarkedParent } from '../os/find-processes.js';
import type { OtherSessions, Patience } from '../tasks/other-sessions.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { AgentList, AgentSession } from './agent-list.js';
import { agentRecord } from './agent-record.js';
import { changeSeqAt } from './change-seq.js';
import { nativeTaskId } from './native-task-id.js';

export interface ListedSessionsOptions {
  readonly clock: Clock;
  readonly agents: Pick<AgentList, 'read'>;
  /** The real path of a session's folder. Throws a BridgeError for one outside of the allowed roots. */
  readonly resolveProject: (folder: string) => Promise<string>;
  /** All processes, with the marks of the bridge's tasks. */
  readonly processes: () => Promise<readonly MarkedParent[]>;
  /** Called each time that somebody looks. */
  readonly onLook: () => Promise<void>;
  /** False when the person has ended the view of own sessions. */
  readonly isOn: () => boolean;
  /** Called with each error that hides sessions and should not be. */
  readonly onError: (error: unknown) => void;
}

/** The sessions that Claude Code lists and that are no tasks yet, inside the allowed roots. */
export class ListedSessions implements OtherSessions {
  readonly #options: ListedSessionsOptions;
  /** What each session was last, and since when. */
  readonly #seen = new Map<string, { readonly state: string; readonly seq: number }>();

  constructor(options: ListedSessionsOptions) {
    this.#options = options;
  }

  async records(known: readonly TaskRecord[], patience: Patience): Promise<readonly TaskRecord[]> {
    try {
      return await this.#records(known, patience);
    } catch (error) {
      this.#options.onError(error);
      return [];
    }
  }

  async #records(known: readonly TaskRecord[], patience: Patience): Promise<readonly TaskRecord[]> {
    if (!this.#options.isOn()) return [];
    await this.#options.onLook();
    const sessions = await this.#options.agents.read(patience);
    if (sessions.length === 0) return [];
    const unknown = await this.#unknown(sessions, known);
    const records = await Promise.all(unknown.map((session) => this.#recordOf(session)));
    const ids = new Set(records.map((record) => record?.task_id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    return records
      .filter((record) => record !== undefined)
      .sort((one, other) => other.created_at.localeCompare(one.created_at));
  }

  async #unknown(
    sessions: readonly AgentSession[],
    known: readonly TaskRecord[],
  ): Promise<readonly AgentSession[]> {
    const ids = new Set(known.map(({ task_id }) => task_id));
    const active = known.filter(({ status }) => !isFinal(status));
    const activeSessions = new Set(active.map(({ session_id }) => session_id));
    const knownSessions = new Set(known.map(({ session_id }) => session_id));
    const marked = new Set(
      (await this.#options.processes()).flatMap(({ pid, mark }) => (mark === undefined ? [] : pid)),
    );
    return sessions.filter(({ sessionId, pid }) => {
      if (ids.has(nativeTaskId(sessionId, pid))) return false;
      if (pid === undefined) return !knownSessions.has(sessionId);
      return !activeSessions.has(sessionId) && !marked.has(pid);
    });
  }

  /** Undefined for a session outside of the allowed roots, and for one that cannot be shown. */
  async #recordOf(session: AgentSession): Promise<TaskRecord | undefined> {
    const { clock, resolveProject } = this.#options;
    try {
      const project = await resolveProject(session.cwd);
      const now = clock.now();
      return agentRecord(session, { project, changeSeq: this.#seqOf(session, now), now });
    } catch (error) {
      if (!(error instanceof BridgeError)) this.#options.onError(error);
      return undefined;
    }
  }

  /** Of the time at which the session was first seen as it is. */
  #seqOf({ sessionId, pid, status, state, waitingFor }: AgentSession, now: number): number {
    const id = nativeTaskId(sessionId, pid);
    const words = JSON.stringify([status, state, waitingFor]);
    const seen = this.#seen.get(id);
    if (seen?.state === words) return seen.seq;
    const seq = changeSeqAt(now);
    this.#seen.set(id, { state: words, seq });
    return seq;
  }
}
