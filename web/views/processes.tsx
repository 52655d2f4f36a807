import type { BoardState, ProcessCard } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { shortPath, span } from '../text/words.js';

/** Ended ones are news for an hour. */
const NEWS_MS = 3_600_000;

interface ProcessesProps {
  readonly board: BoardState;
  /** Words that each one shown has. */
  readonly search: string;
  readonly home: string;
  readonly nowMs: number;
}

/** The programs that were started with `spawn`: those that run, and those that ended lately. */
export function Processes({ board, search, home, nowMs }: ProcessesProps) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = Object.values(board.processes)
    .filter((one) => one.status === 'running' || nowMs - Date.parse(one.ended_at ?? one.started_at) < NEWS_MS)
    .filter((one) => words.every((word) => textOf(one).includes(word)))
    .sort((a, b) => b.started_at.localeCompare(a.started_at));
  if (shown.length === 0) return null;
  return (
    <section class="group" aria-label="Processes">
      <h2>
        Processes <span class="count">{shown.length}</span>
      </h2>
      <ul>
        {shown.map((one) => (
          <li key={one.process_id} class="row">
            <span class="row-head">
              <span class={one.status === 'running' ? 'status running' : 'status'}>{endOf(one)}</span>
              <code class="prompt" dir="auto">
                {visible(one.command_line)}
              </code>
              <time class="quiet" dateTime={one.started_at}>
                {span(
                  ((one.ended_at === null ? nowMs : Date.parse(one.ended_at)) - Date.parse(one.started_at)) /
                    1000,
                )}
              </time>
            </span>
            <span class="row-facts quiet">
              <span>{one.process_id}</span>
              <span>{visible(shortPath(one.cwd, home))}</span>
              {one.mode === 'docker' && <span>in a container</span>}
              {one.keep && <span>kept</span>}
            </span>
            {one.reason !== null && <span class="row-words quiet">{visible(one.reason)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function endOf({ status, exit_code, signal }: ProcessCard): string {
  if (status !== 'terminated') return status;
  if (signal !== null) return signal;
  return exit_code === null ? 'ended' : `exit ${exit_code}`;
}

function textOf({ process_id, command_line, cwd, status }: ProcessCard): string {
  return `${process_id}\n${command_line}\n${cwd}\n${status}`.toLowerCase();
}
