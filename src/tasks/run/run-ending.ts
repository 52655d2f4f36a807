import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { oneLine, tailChars, tailLines } from '../../base/text/text.js';
import type { ExitStatus } from '../../claude/session.js';
import type { RunRequests } from './run-requests.js';
import type { RunState } from './run-state.js';
import type { Cause, SessionPhase } from './session-phase.js';
import type { Decision, TaskRecord } from '../task.js';
import type { TaskRunParts } from './task-run-parts.js';
import type { TaskStory } from './task-story.js';

/** Length of `last_output`, as the specification says. */
export const LAST_OUTPUT_CHARS = 500;
/** What an agent last showed, in the reason of its end. */
const SHOWN_CHARS = 200;
const TRUST_DIALOG = 'trust-folder';
/** The files of a task are closed within this: the end of a task is reported although the disk is dead. */
export const FLUSH_LIMIT_MS = 3_000;

export interface RunEndingParts extends Pick<
  TaskRunParts,
  'clock' | 'logger' | 'driver' | 'records' | 'endLeftovers' | 'flush' | 'release'
> {
  readonly state: RunState;
  readonly story: TaskStory;
  readonly phase: SessionPhase;
  readonly requests: Pick<RunRequests, 'withdrawAll'>;
  /** What was not sent by now is never sent. */
  readonly loseMessages: () => void;
}

/** The end of a run: the first cause wins, the last process goes, the files are closed, and then the end is reported. */
export class RunEnding {
  readonly #parts: RunEndingParts;
  #resolveEnded: (record: TaskRecord) => void = () => undefined;
  /** Resolves with the final record when it is on disk and all that belonged to the run is gone. */
  readonly ended: Promise<TaskRecord>;

  constructor(parts: RunEndingParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  /** The first cause wins; the status itself changes when the processes are gone. */
  end(cause: Cause, how: 'kill' | 'close' = 'kill'): void {
    const { state, story, phase, driver, logger } = this.#parts;
    if (phase.cause !== undefined) return;
    phase.move({ name: 'leaving', cause });
    story.ending(cause.status, cause.reason);
    state.act(cause.reason);
    const ended = how === 'kill' ? driver.kill() : driver.close();
    ended.catch((error: unknown) =>
      logger.error('the session could not be ended', { error: messageOf(error) }),
    );
  }

  /** The agent is gone. `otherwise`: what that means, where its exit code says something else. */
  async finish(exit: ExitStatus, otherwise?: Cause): Promise<void> {
    const { state, story, phase, records, driver, endLeftovers, flush, release, logger, clock } = this.#parts;
    const cause = phase.cause ?? otherwise ?? this.#causeOf(exit);
    if (phase.cause === undefined) phase.move({ name: 'leaving', cause });
    const { final_message } = state.record;
    const lastOutput =
      final_message !== '' && (cause.status === 'completed' || exit.code === 0)
        ? final_message
        : driver.lastOutput(LAST_OUTPUT_CHARS);
    this.#parts.requests.withdrawAll('the task ended');
    this.#parts.loseMessages();
    const leftovers = await endLeftovers().catch((error: unknown) => {
      logger.error('leftover processes could not be ended', { error: messageOf(error) });
      return [];
    });
    if (leftovers.length > 0) story.leftoversEnded(leftovers);
    story.ended(cause.status, cause.reason, exit);
    const final = state.close({
      ...cause,
      exit_code: exit.code ?? null,
      signal: exit.signal ?? null,
      last_output: tailChars(lastOutput, LAST_OUTPUT_CHARS),
    });
    phase.move({ name: 'ended', cause });
    // Before the end is reported: a caller that reads it may start the next task.
    try {
      release();
    } catch (error) {
      logger.error('the project could not be released', { error: messageOf(error) });
    }
    // At the same time: a client waits for both, and each of them waits for the disk.
    const flushed = flush().catch((error: unknown) =>
      logger.error('the files of the task could not be closed', { error: messageOf(error) }),
    );
    await Promise.all([withinMs(clock, FLUSH_LIMIT_MS, flushed), records.write(final)]);
    state.finish(final);
    this.#resolveEnded(final);
  }

  #causeOf(exit: ExitStatus): Cause {
    const { state, driver } = this.#parts;
    if (exit.reason !== undefined) return { status: 'failed', reason: exit.reason };
    if (exit.signal !== undefined)
      return { status: 'failed', reason: `The agent was ended by the signal ${exit.signal}.` };
    if (exit.code === 0 || exit.wasAsked === true) {
      return {
        status: 'completed',
        reason: state.record.turns > 0 ? 'The agent finished its work.' : 'The agent exited with code 0.',
      };
    }
    const { turns, decisions, session_id, project_path } = state.record;
    const trust = decisions.findLast(({ tool }) => tool === TRUST_DIALOG);
    // A session that has reported its id was trusted.
    if (turns === 0 && session_id === null && trust !== undefined && isUntrusted(trust))
      return { status: 'failed', reason: notTrusted(project_path) };
    const shown = oneLine(tailLines(driver.lastOutput(LAST_OUTPUT_CHARS), SHOWN_CHARS), SHOWN_CHARS);
    return {
      status: 'failed',
      reason: `The agent exited with code ${exit.code ?? 'unknown'}${shown === '' ? '.' : `: ${shown}`}`,
    };
  }
}

/** Claude Code ends when the folder is not trusted. */
function isUntrusted({ verdict, answered_by }: Decision): boolean {
  return verdict !== 'allow' && verdict !== 'allow_session' && answered_by !== 'terminal';
}

function notTrusted(folder: string): string {
  return `Claude Code did not start, because nobody trusted the folder ${folder}. Start the task again and allow the decision ${TRUST_DIALOG}.`;
}
