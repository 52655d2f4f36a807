import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { replayOf, type ReplayState } from '../../src/board/replay/replay-state.js';
import type { Store } from '../store.js';
import { ErrorLine } from '../views/error-line.js';
import { openEmulator } from '../terminal/open-emulator.js';
import { visible } from '../text/visible.js';
import { clockTime } from '../text/words.js';
import { cutTime, momentAt } from './cut-time.js';
import { FilesAt } from './files.js';
import { openHiddenTerminal } from './hidden-terminal.js';
import { MarkList, Ticks } from './marks.js';
import { Player } from './player.js';
import { Reel, type ReelFacts } from './reel.js';
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
const NO_PAUSES: ReelFacts['pauses'] = [];
const speeds = [1, 2, 4, 8, 16] as const;

interface ViewProps {
  readonly store: Store;
  readonly taskId: string;
}

/** The recording of a task's terminal, to be played. */
export function ReplayView({ store, taskId }: ViewProps) {
  const followed = useMemo(() => store.follow(`replay:/${taskId}`, replayOf), [store, taskId]);
  useEffect(() => followed.close, [followed]);
  const state = followed.state.value;
  const reel = useReel(store, taskId, state);
  if (state === undefined || reel === undefined) return <p class="empty">Reading the recording…</p>;
  const { began_ms, is_ready, error } = reel.facts.value;
  if (began_ms !== null) return <Recording {...{ store, taskId, state, reel }} facts={reel.facts.value} />;
  if (error !== null) return <ErrorLine error={error} />;
  return <p class="empty">{is_ready ? visible(state.why_empty) : 'Reading the recording…'}</p>;
}

/** The recording in this page, which is read as soon as it is known whether it grows. */
function useReel(store: Store, taskId: string, state: ReplayState | undefined): Reel | undefined {
  const [reel, setReel] = useState<Reel>();
  const newest = useRef(state);
  newest.current = state;
  const isKnown = state !== undefined;
  useEffect(() => {
    if (!isKnown) return undefined;
    const made = new Reel({
      taskId,
      act: (action) => store.act(action),
      openTerminal: openHiddenTerminal,
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
    setReel(made);
    void made.read(() => newest.current?.is_live ?? false);
    return () => made.dispose();
  }, [store, taskId, isKnown]);
  return reel;
}

interface RecordingProps extends ViewProps {
  readonly state: ReplayState;
  readonly reel: Reel;
  readonly facts: ReelFacts;
}

function Recording({ store, taskId, state, reel, facts }: RecordingProps) {
  const place = useRef<HTMLDivElement>(null);
  const player = usePlayer(reel, state, place);
  const marks = useMemo(
    () => timelineMarks(state, facts),
    [state, facts.began_ms, facts.first_ms, facts.ready_ms, facts.is_ready],
  );
  useOpening(player, { state, facts, marks });
  return (
    <div class="replay">
      {player !== undefined && <Controls {...{ player, state, facts, marks }} />}
      <div class="terminal-place" ref={place} />
      {player !== undefined && <Around {...{ store, taskId, player, state, facts, marks }} />}
    </div>
  );
}

/** A recording begins and ends with an empty screen: it opens where something was asked or done first, and one that grows at its end. */
function useOpening(
  player: Player | undefined,
  { state, facts, marks }: Pick<ControlsProps, 'state' | 'facts' | 'marks'>,
): void {
  const opening = useRef<{ readonly atMs: number; readonly isOver: boolean }>(undefined);
  useEffect(() => {
    if (player === undefined || !facts.is_ready) return;
    const { atMs = facts.first_ms, isOver = false } = opening.current ?? {};
    // A person was faster.
    if (isOver || player.isPlaying.value || player.atMs.value > atMs) return;
    // The marks come a little later than the recording.
    const first = marks.find(({ kind }) => kind === 'decision') ?? marks.find(({ kind }) => kind === 'tool');
    player.seek(state.is_live || first === undefined ? facts.ready_ms : shownAt(first, marks));
    opening.current = { atMs: player.atMs.value, isOver: state.is_live || first !== undefined };
  }, [player, facts.is_ready, marks]);
}

/** What happened around the moment, and the files then; drawn again only when one of these is another one. */
function Around({ store, taskId, player, state, facts, marks }: ViewProps & ControlsProps) {
  const beganMs = facts.began_ms ?? 0;
  const atMs = player.atMs.value;
  const current = marks.findLast((mark) => mark.atMs <= atMs);
  // What was committed at the very end belongs to the last moment.
  const last = state.commits.findLast(({ at_ms }) => Math.min(at_ms - beganMs, facts.ready_ms) <= atMs);
  const list = useMemo(
    () => <MarkList marks={marks} current={current} onSeek={(ms) => seekMark(player, marks, ms)} />,
    [player, marks, current],
  );
  const files = useMemo(
    () => <FilesAt {...{ store, taskId, state, beganMs, last }} />,
    [store, taskId, state, beganMs, last],
  );
  return (
    <>
      {list}
      {files}
    </>
  );
}

function usePlayer(
  reel: Reel,
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
      reel,
      terminal,
      isLive: () => newest.current.is_live,
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
  }, [reel]);
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
  readonly facts: ReelFacts;
  readonly marks: readonly TimelineMark[];
}

function Controls({ player, state, facts, marks }: ControlsProps) {
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
        <Moment player={player} facts={facts} />
      </div>
      <TimeSlider player={player} facts={facts} marks={marks} />
      {facts.error !== null && <ErrorLine error={facts.error} />}
      <p class="quiet" role="status">
        {statusWords(state, facts)}
      </p>
    </>
  );
}

function DecisionButtons({ player, marks }: Pick<ControlsProps, 'player' | 'marks'>) {
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

function Moment({ player, facts }: Pick<ControlsProps, 'player' | 'facts'>) {
  const atMs = player.atMs.value;
  return (
    <span class="moment">
      {momentWords(atMs)} of {momentWords(facts.ready_ms)}{' '}
      <span class="quiet">({clockTime(new Date((facts.began_ms ?? 0) + atMs).toISOString())})</span>
    </span>
  );
}

/** With pauses cut they take as little of the timeline as they take to play. */
function TimeSlider({ player, facts, marks }: Omit<ControlsProps, 'state'>) {
  const pauses = player.cutsPauses.value ? facts.pauses : NO_PAUSES;
  const from = cutTime(pauses, facts.first_ms);
  const to = Math.max(from + 1, cutTime(pauses, facts.ready_ms));
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
        aria-valuetext={`${spokenMoment(atMs)} of ${spokenMoment(facts.ready_ms)}`}
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

function statusWords({ is_live }: ReplayState, { is_ready, is_cut, ready_ms, first_ms }: ReelFacts): string {
  const words: string[] = [];
  if (!is_ready) words.push(`The recording is being read: up to ${momentWords(ready_ms)} can be shown.`);
  if (is_live) words.push('The task runs: the recording grows.');
  if (is_cut)
    words.push(`The recording has more than 50 MB: what was before ${momentWords(first_ms)} is not shown.`);
  else if (first_ms > 0) words.push(`What was before ${momentWords(first_ms)} is no longer kept.`);
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
