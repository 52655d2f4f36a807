// Pure: where a session is, and what its end means.
import { metWords } from '../../checks/result.js';
import { doctorSentence } from '../../base/errors.js';
import { oneLine, tailLines } from '../../base/text.js';
import { endsAtNo } from '../../claude/interactive/dialogs.js';
import type { ExitStatus, TroubleKind } from '../../claude/session.js';
import type { Decision, TaskRecord } from '../task.js';
import type { TaskSpec } from '../task-spec.js';

/** What the record says of the end. */
export type Cause = Pick<TaskRecord, 'status' | 'reason' | 'ended_by_budget'>;

/** Where a session is. The status `running` or `waiting` of its task follows from it. */
export interface Phase {
  /**
   * `starting`: the first turn has not begun. `turn`: one runs, or is about to for a message that was sent. `background`: the turn is over,
   * and what it started still runs. `sending`: a message is on its way. `message`: the session waits for one. `checking`: the agent says that it is done, and the checks run. `blocked`: trouble ended the
   * turn. `leaving`, `ended`: the session is left, for a cause or since its work is done.
   */
  readonly at:
    'starting' | 'turn' | 'background' | 'sending' | 'message' | 'checking' | 'blocked' | 'leaving' | 'ended';
  /** Why the session is being left, or was; undefined while it goes on, and for one whose work is done. */
  readonly cause?: Cause;
  /** What of the turn goes on, or what blocks the session. */
  readonly words?: string | undefined;
  /** A caller or a person stopped the turn. */
  readonly interrupted?: boolean;
}

/** The session goes on: it is neither being left nor over. */
export function isOpenIn({ at }: Phase): boolean {
  return at !== 'leaving' && at !== 'ended';
}

/** What an agent last showed, in the reason of its end. */
const SHOWN_CHARS = 200;
const TRUST_DIALOG = 'trust-folder';
/** Trouble that comes from this machine, and that a person ends here. */
const OF_THE_MACHINE: readonly TroubleKind[] = ['not-logged-in', 'onboarding', 'network', 'too-old'];
/** An `apiKeyHelper` or a variable, for example. */
const LOGIN_LEFT_OUT =
  'This task started without parts of the configuration, as its first answer says: if one of them holds the login, a person can trust the project, or log in with claude.';

/** What the end of the agent's process in a phase means; `shown`: what it last showed. */
export function causeOfExit(exit: ExitStatus, phase: Phase, record: TaskRecord, shown: string): Cause {
  if (phase.cause !== undefined) return phase.cause;
  // Whatever its exit code: what it was to go on with is not done.
  if (phase.at === 'blocked' || (phase.at === 'turn' && exit.code === 0 && record.trouble != null))
    return failed(
      'Claude Code was ended while the task waited for trouble to pass. Another task can go on from it.',
    );
  if (exit.reason !== undefined) return failed(exit.reason);
  // A session that was asked to leave and takes too long, as on a busy machine, is ended: that takes nothing from its work.
  if (exit.signal !== undefined && !isOpenIn(phase))
    return completed(
      `The agent finished its work; its session did not leave and was ended by the signal ${exit.signal}.`,
    );
  if (exit.signal !== undefined) return failed(`The agent was ended by the signal ${exit.signal}.`);
  if (exit.code === 0 || exit.wasAsked === true)
    return completed(record.turns > 0 ? 'The agent finished its work.' : 'The agent exited with code 0.');
  const refused = phase.at === 'starting' ? refusedStart(record) : undefined;
  if (refused !== undefined) {
    const { tool, summary } = refused;
    const what = tool === TRUST_DIALOG ? 'The folder was not trusted' : `"${summary}" was not allowed`;
    return failed(
      `${what}, so Claude Code did not start. Start the task again and allow the decision ${tool}.`,
    );
  }
  const words = oneLine(tailLines(shown, SHOWN_CHARS), SHOWN_CHARS);
  return failed(`The agent exited with code ${exit.code ?? 'unknown'}${words === '' ? '.' : `: ${words}`}`);
}

/** The end of a task of which something goes on that will not be waited for. */
export function endedWith(goesOn: string, when: string): Cause {
  return completed(`The agent finished its work. When its session was ended ${when}: ${goesOn}.`);
}

/** The reason of a task that trouble has ended; for trouble of this machine with where to find out more. */
export function troubleReason(reason: string, kind: TroubleKind, { settings }: TaskSpec): string {
  const { own_command, leaves_out = false } = settings;
  const why = kind === 'not-logged-in' && leaves_out ? `${reason} ${LOGIN_LEFT_OUT}` : reason;
  if (own_command === undefined || !OF_THE_MACHINE.includes(kind)) return why;
  return `${why} ${doctorSentence(own_command)}`;
}

/** The dialog that ended Claude Code at its start. A session that has reported its id is past them, or tells its end after a denial (2.1.332). */
function refusedStart({ decisions, session_id }: TaskRecord): Decision | undefined {
  const last = decisions.findLast(({ tool }) => endsAtNo(tool));
  if (last?.verdict === 'deny') return last;
  const isAllowed = last?.verdict === 'allow' || last?.verdict === 'allow_session';
  // What a person chose in the terminal itself is not known.
  return isAllowed || session_id !== null || last?.answered_by === 'terminal' ? undefined : last;
}

/** As in `; 5 of 6 checks met`. */
export function checkWords({ checked }: TaskRecord): string {
  const words = metWords(checked);
  return words === '' ? '' : `; ${words}`;
}

function failed(reason: string): Cause {
  return { status: 'failed', reason };
}

function completed(reason: string): Cause {
  return { status: 'completed', reason };
}
