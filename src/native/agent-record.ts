// Pure: a session that Claude Code lists → the record of a task.
import { initialRecord } from '../tasks/record/initial-record.js';
import { NO_PROMPT } from '../tasks/native-session.js';
import { IN_ITS_TERMINAL, type TaskRecord, type TaskStatus, WAITS_FOR_MESSAGE } from '../tasks/task.js';
import type { AgentSession } from './agent-list.js';
import { nativeTaskId } from './native-task-id.js';
import { nativeSpec } from './native-spec.js';

/** `project` is the real path of the session's folder; `changeSeq` grows when the session changes; `now` is in milliseconds since the epoch. */
export function agentRecord(
  session: AgentSession,
  parts: { readonly project: string; readonly changeSeq: number; readonly now: number },
): TaskRecord {
  const { project, changeSeq, now } = parts;
  const taskId = nativeTaskId(session.sessionId, session.pid);
  const startedAt = new Date(session.startedAt).toISOString();
  const { status, reason } = standingOf(session);
  const isOver = session.pid === undefined;
  return {
    ...initialRecord({
      spec: nativeSpec({ taskId, project, createdAt: startedAt }),
      prompt: session.name ?? NO_PROMPT,
      owner: null,
      // No process has a mark of it: nothing of the session is the bridge's to end.
      mark: '',
      socketPath: '',
      files: { logFile: '', promptFile: '' },
      now,
    }),
    status,
    reason,
    status_source: 'observed',
    started_at: startedAt,
    // When it ended is not listed.
    ended_at: isOver ? startedAt : null,
    elapsed_seconds: isOver ? 0 : Math.max(0, Math.floor((now - session.startedAt) / 1000)),
    session_id: session.sessionId,
    change_seq: changeSeq,
  };
}

function standingOf({ pid, kind, state, status, waitingFor }: AgentSession): {
  readonly status: TaskStatus;
  readonly reason: string;
} {
  if (pid === undefined) {
    const reason = `Claude Code lists this ${kind} session as ${state ?? 'ended'}.`;
    if (state === 'stopped') return { status: 'killed', reason };
    return { status: state !== undefined && /fail|error|crash/.test(state) ? 'failed' : 'completed', reason };
  }
  if (status === 'waiting')
    return { status, reason: `Waits for an answer (${waitingFor ?? 'a dialog'}). ${IN_ITS_TERMINAL}` };
  if (status === 'idle') return { status: 'waiting', reason: `The session is idle; ${WAITS_FOR_MESSAGE}` };
  return { status: 'running', reason: 'The session runs.' };
}
