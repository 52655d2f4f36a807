import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cutTime, momentAt } from '../../src/board/replay/cut-time.js';
import { reduceReplay, type ReplayState } from '../../src/board/replay/replay-state.js';
import type { Store } from '../store.js';
import { openEmulator } from '../terminal/open-emulator.js';
import { visible } from '../text/visible.js';
import { clockTime } from '../text/words.js';
import { FilesAt } from './files.js';
import { MarkList, Ticks } from './marks.js';
import { Player } from './player.js';
import { momentWords, spokenMoment } from './times.js';
import { timelineMarks, type TimelineMark } from './timeline-marks.js';

/** A step of the arrow keys on the timeline. */
const STEP_MS = 1_000;
/** Going back from just behind a decision goes to the one before it. */
const BACK_MS = 1_000;
/** Long enough for its dialog to be drawn after something was asked. */
const DIALOG_MS = 1_500;
const MAX_FONT = 13;
const MIN_FONT = 7;
/** Of a line, by the size of its font. */
const LINE_HEIGHT = 1.25;
/** The head of the task, its tabs, and the buttons of the replay. */
const ABOVE_PIXELS = 370;
const NO_PAUSES: ReplayState['pauses'] = [];
const speeds = [1, 2, 4, 8, 16] as const;

interface ViewProps {
  readonly store: Store;
  readonly taskId: string;
}

/** The recording of a task's terminal, to be played. */
export function ReplayView({ store, taskId }: ViewProps) {
  const followed = useMemo(() => store.follow(`replay:/${taskId}`, reduceReplay), [store, taskId]);
  useEffect(() => followed.close, [followed]);
  const state = followed.state.value;
  if (state === undefined || (state.began_ms === null && state.why === null))
    return <p class="empty">Reading the recording…</p>;
  if (state.began_ms === null) return <p class="empty">{visible(state.why ?? '')}</p>;
  return <Recording store={store} taskId={taskId} state={state} />;
}

interface RecordingProps extends ViewProps {
  readonly state: ReplayState;
}

function Recording({ store, taskId, state }: RecordingProps) {
  const place = useRef<HTMLDivElement>(null);
  const player = usePlayer(store, taskId, state, place);
  const marks = useMemo(
    () => timelineMarks(state),
    [state.marks, state.commits, state.first_ms, state.ready_ms, state.is_ready],
  );
  useOpening(player, state, marks);
  return (
    <div class="replay">
      {player !== undefined && <Controls player={player} state={state} marks={marks} />}
      <div class="terminal-place" ref={place} />
      {player !== undefined && (
        <Around store={store} taskId={taskId} player={player} state={state} marks={marks} />
      )}
    </div>
  );
}

/** A recording begins and ends with an empty screen: it opens where something was asked or done first, and one that grows at its end. */
function useOpening(player: Player | undefined, state: ReplayState, marks: readonly TimelineMark[]): void {
  const opening = useRef<{ readonly atMs: number; readonly isOver: boolean }>(undefined);
  useEffect(() => {
    if (player === undefined || !state.is_ready) return;
    const { atMs = state.first_ms, isOver = false } = opening.current ?? {};
    // A person was faster.
    if (isOver || player.isPlaying.value || player.atMs.value > atMs) return;
    // The marks come a little later than the recording.
    const first = marks.find(({ kind }) => kind === 'decision') ?? marks.find(({ kind }) => kind === 'tool');
    player.seek(state.is_live || first === undefined ? state.ready_ms : shownAt(first, marks));
    opening.current = { atMs: player.atMs.value, isOver: state.is_live || first !== undefined };
  }, [player, state.is_ready, marks]);
}

/** What happened around the moment, and the files then; drawn again only when one of these is another one. */
function Around({ store, taskId, player, state, marks }: ViewProps & ControlsProps) {
  const atMs = player.atMs.value;
  const current = marks.findLast((mark) => mark.atMs <= atMs);
  // What was committed at the very end belongs to the last moment.
  const last = state.commits.findLast(({ at_ms }) => Math.min(at_ms, state.ready_ms) <= atMs);
  const list = useMemo(
    () => <MarkList marks={marks} current={current} onSeek={(ms) => seekMark(player, marks, ms)} />,
    [player, marks, current],
  );
  const files = useMemo(
    () => <FilesAt store={store} taskId={taskId} state={state} last={last} />,
    [store, taskId, state.commits, state.files_why, last],
  );
  return (
    <>
      {list}
      {files}
    </>
  );
}

function usePlayer(
  store: Store,
  taskId: string,
  state: ReplayState,
  place: { readonly current: HTMLDivElement | null },
): Player | undefined {
  const [player, setPlayer] = useState<Player>();
  const newest = useRef(state);
  newest.current = state;
  useEffect(() => {
    if (place.current === null) return undefined;
    const { terminal, dispose } = openEmulator(place.current, 0);
    terminal.onResize(({ rows }) => (terminal.options.fontSize = fontSizeFor(rows)));
    terminal.options.fontSize = fontSizeFor(terminal.rows);
    const made = new Player({
      taskId,
      act: (action) => store.act(action),
      terminal,
      state: () => newest.current,
      onFrame: (act) => {
        const frame = requestAnimationFrame(act);
        return () => cancelAnimationFrame(frame);
      },
    });
    setPlayer(made);
    return () => {
      made.dispose();
      dispose();
    };
  }, [store, taskId]);
  // Another beginning is another reading of the recording, in which places mean something else.
  useEffect(() => player?.seek(player.atMs.value), [player, state.began_ms]);
  useEffect(() => {
    if (player === undefined) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target))
        return;
      event.preventDefault();
      player.toggle();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [player]);
  return player;
}

/** So large that all rows are in sight, below what stands above the terminal. */
function fontSizeFor(rows: number): number {
  const room = innerHeight - ABOVE_PIXELS;
  return Math.min(MAX_FONT, Math.max(MIN_FONT, Math.floor(room / rows / LINE_HEIGHT)));
}

/** Whether what has the focus does something else for the space bar. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches('[type=range], [role=tab]')) return false;
  return target.closest('input, textarea, select, button, summary, a, [contenteditable]') !== null;
}

interface ControlsProps {
  readonly player: Player;
  readonly state: ReplayState;
  readonly marks: readonly TimelineMark[];
}

function Controls({ player, state, marks }: ControlsProps) {
  const error = player.error.value;
  return (
    <>
      <div class="actions">
        <DecisionButtons player={player} marks={marks} />
        <label>
          Speed{' '}
          <select
            value={`×${player.speed.value}`}
            onChange={(event) => (player.speed.value = speeds[event.currentTarget.selectedIndex] ?? 1)}
          >
            {speeds.map((speed) => (
              <option key={speed}>×{speed}</option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={player.cutsPauses.value}
            onChange={(event) => (player.cutsPauses.value = event.currentTarget.checked)}
          />{' '}
          Cut pauses
        </label>
        <Moment player={player} state={state} />
      </div>
      <TimeSlider player={player} state={state} marks={marks} />
      {error !== undefined && (
        <p class="error" role="alert">
          {visible(error.message)} {visible(error.hint)}
        </p>
      )}
      <p class="quiet" role="status">
        {statusWords(state)}
      </p>
    </>
  );
}

function DecisionButtons({ player, marks }: Omit<ControlsProps, 'state'>) {
  const atMs = player.atMs.value;
  const decisions = marks.filter(({ kind }) => kind === 'decision').map((mark) => shownAt(mark, marks));
  const before = decisions.findLast((ms) => ms < atMs - BACK_MS);
  const next = decisions.find((ms) => ms > atMs);
  const button = (label: string, ms: number | undefined) => (
    <button type="button" disabled={ms === undefined} onClick={() => ms !== undefined && player.seek(ms)}>
      {label}
    </button>
  );
  return (
    <>
      {button('◂ Decision before', before)}
      <button type="button" class="primary" onClick={() => player.toggle()}>
        {player.isPlaying.value ? 'Pause' : 'Play'}
      </button>
      {button('Next decision ▸', next)}
    </>
  );
}

function Moment({ player, state }: Omit<ControlsProps, 'marks'>) {
  const atMs = player.atMs.value;
  return (
    <span class="moment">
      {momentWords(atMs)} of {momentWords(state.ready_ms)}{' '}
      <span class="quiet">({clockTime(new Date((state.began_ms ?? 0) + atMs).toISOString())})</span>
    </span>
  );
}

/** With pauses cut they take as little of the timeline as they take to play. */
function TimeSlider({ player, state, marks }: ControlsProps) {
  const pauses = player.cutsPauses.value ? state.pauses : NO_PAUSES;
  const from = cutTime(pauses, state.first_ms);
  const to = Math.max(from + 1, cutTime(pauses, state.ready_ms));
  const atMs = player.atMs.value;
  const shareOf = (ms: number): number => (cutTime(pauses, ms) - from) / (to - from);
  const ticks = useMemo(
    () => <Ticks marks={marks} shareOf={shareOf} onSeek={(ms) => seekMark(player, marks, ms)} />,
    [player, marks, pauses, from, to],
  );
  return (
    <div class="timeline-slider">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${spokenMoment(atMs)} of ${spokenMoment(state.ready_ms)}`}
        min={Math.floor(from)}
        max={Math.ceil(to)}
        step={1}
        value={Math.round(cutTime(pauses, atMs))}
        onInput={(event) => player.seek(momentAt(pauses, event.currentTarget.valueAsNumber))}
        onKeyDown={(event) => {
          const steps: Readonly<Record<string, number>> = { ArrowLeft: -STEP_MS, ArrowRight: STEP_MS };
          const step = steps[event.key];
          if (step === undefined) return;
          event.preventDefault();
          player.seek(momentAt(pauses, Math.max(from, cutTime(pauses, atMs) + step)));
        }}
      />
      {ticks}
    </div>
  );
}

function statusWords({ is_ready, is_live, ready_ms, first_ms, why }: ReplayState): string {
  if (why !== null) return visible(why);
  const words: string[] = [];
  if (!is_ready) words.push(`The recording is being read: up to ${momentWords(ready_ms)} can be shown.`);
  if (is_live) words.push('The task runs: the recording grows.');
  if (first_ms > 0) words.push(`What was before ${momentWords(first_ms)} is no longer kept.`);
  return words.join(' ');
}

function seekMark(player: Player, marks: readonly TimelineMark[], ms: number): void {
  const mark = marks.find(({ atMs, kind }) => atMs === ms && kind === 'decision');
  player.seek(mark === undefined ? ms : shownAt(mark, marks));
}

/** A decision is shown with its dialog, before it is answered. */
function shownAt(mark: TimelineMark, marks: readonly TimelineMark[]): number {
  const next = marks.find(({ atMs, kind }) => atMs > mark.atMs && (kind === 'answer' || kind === 'decision'));
  return Math.max(mark.atMs, Math.min(mark.atMs + DIALOG_MS, (next?.atMs ?? Infinity) - 1));
}
