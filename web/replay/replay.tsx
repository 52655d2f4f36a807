import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { openEmulator, openHiddenTerminal } from '../terminal/emulator.js';
import { clockTime, visible } from '../text/words.js';
import { ErrorLine, Button } from '../views/parts.js';
import { marksOf, momentWords, shownAt, type Mark } from './marks.js';
import { Player } from './player.js';
import { Reel, type ReelFacts } from './reel.js';

/** A step of the arrow keys on the timeline. */
const STEP_MS = 1_000;
const steps: Readonly<Record<string, number>> = { ArrowLeft: -STEP_MS, ArrowRight: STEP_MS };
/** Going back from just behind a decision goes to the one before it. */
const BACK_MS = 1_000;
const MAX_FONT = 13;
const MIN_FONT = 7;
/** Of a line, by the size of its font. */
const LINE_HEIGHT = 1.25;
/** The head of the task, its tabs, and the buttons of the replay. */
const ABOVE_PIXELS = 370;
/** How soon what a running task prints is seen. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));
const speeds = [1, 2, 4, 8, 16] as const;

interface ViewProps {
  readonly store: Store;
  readonly taskId: string;
  readonly state: TaskState;
}

/** The recording of a task's terminal, to be played. */
export function ReplayView({ store, taskId, state }: ViewProps) {
  const [reel, setReel] = useState<Reel>();
  const isLive = (): boolean => store.task.value?.task?.is_final === false;
  useEffect(() => {
    const act: typeof store.act = (action) => store.act(action);
    const made = new Reel({ taskId, act, openTerminal: openHiddenTerminal, pause });
    setReel(made);
    void made.read(isLive);
    return () => made.dispose();
  }, [store, taskId]);
  const { began_ms = null, error = null, is_ready = false } = reel?.facts.value ?? {};
  if (reel !== undefined && began_ms !== null) return <Recording {...{ reel, state, isLive }} />;
  if (error !== null) return <ErrorLine error={error} />;
  return <p class="empty">{is_ready ? whyEmpty(state) : 'Reading the recording…'}</p>;
}

function whyEmpty({ task }: TaskState): string {
  if (task?.driver === 'native') return 'The terminal of this session is its person’s: it is not recorded.';
  if (task?.driver === 'print')
    return 'The task has no terminal: it runs Claude Code without one (driver print).';
  if (task?.status === 'pending') return 'The task has not started yet.';
  return task?.is_final === true ? 'Nothing of its terminal was recorded.' : 'Nothing was printed yet.';
}

interface RecordingProps {
  readonly reel: Reel;
  readonly state: TaskState;
  readonly isLive: () => boolean;
}

function Recording({ reel, state, isLive }: RecordingProps) {
  const place = useRef<HTMLDivElement>(null);
  const [player, setPlayer] = useState<Player>();
  const facts = reel.facts.value;
  const { first_ms, ready_ms } = facts;
  const marks = useMemo(
    () => marksOf(state.events, facts),
    [state.events, ready_ms, first_ms, facts.is_ready],
  );
  useEffect(() => {
    if (place.current === null) return undefined;
    const { terminal, dispose } = openEmulator(place.current, 0);
    terminal.onResize(({ rows }) => (terminal.options.fontSize = fontSizeFor(rows)));
    terminal.options.fontSize = fontSizeFor(terminal.rows);
    const made = new Player({ reel, terminal, isLive });
    setPlayer(made);
    return () => {
      made.dispose();
      dispose();
    };
  }, [reel]);
  // A recording begins and ends with an empty screen: it opens where something was asked or done first, and one that grows at its end.
  useEffect(() => {
    // A person may have been faster.
    if (player?.isPlaying.value !== false || !facts.is_ready || player.atMs.value > facts.first_ms) return;
    const first = marks.find(({ kind }) => kind === 'asked') ?? marks.find(({ kind }) => kind === 'tool');
    player.seek(isLive() || first === undefined ? facts.ready_ms : shownAt(first, marks));
  }, [player, facts.is_ready]);
  return (
    <div class="replay">
      {player !== undefined && <Controls {...{ player, facts, marks }} isLive={isLive()} />}
      <div class="terminal-place" ref={place} />
      {player !== undefined && <MarkList {...{ player, marks }} />}
    </div>
  );
}

/** So large that all rows are in sight, below what stands above the terminal. */
function fontSizeFor(rows: number): number {
  const room = innerHeight - ABOVE_PIXELS;
  return Math.min(MAX_FONT, Math.max(MIN_FONT, Math.floor(room / rows / LINE_HEIGHT)));
}

interface ControlsProps {
  readonly player: Player;
  readonly facts: ReelFacts;
  readonly marks: readonly Mark[];
}

function Controls({ player, facts, marks, isLive }: ControlsProps & { readonly isLive: boolean }) {
  const atMs = player.atMs.value;
  const asked = marks.filter(({ kind }) => kind === 'asked').map((mark) => shownAt(mark, marks));
  const before = asked.findLast((ms) => ms < atMs - BACK_MS);
  const next = asked.find((ms) => ms > atMs);
  const seek = (label: string, ms: number | undefined) => (
    <Button off={ms === undefined} act={() => ms !== undefined && player.seek(ms)}>
      {label}
    </Button>
  );
  return (
    <>
      <div class="actions">
        {seek('◂ Previous decision', before)}
        <Button look="primary" act={() => player.toggle()}>
          {player.isPlaying.value ? 'Pause' : 'Play'}
        </Button>
        {seek('Next decision ▸', next)}
        <label>
          Speed{' '}
          <select
            value={player.speed.value}
            onChange={(event) => (player.speed.value = Number(event.currentTarget.value))}
          >
            {speeds.map((speed) => (
              <option key={speed} value={speed}>
                ×{speed}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={player.skipsIdle.value}
            onChange={(event) => (player.skipsIdle.value = event.currentTarget.checked)}
          />{' '}
          Skip idle time
        </label>
        <span class="moment">
          {momentWords(atMs)} of {momentWords(facts.ready_ms)}{' '}
          <span class="quiet">({clockTime(new Date((facts.began_ms ?? 0) + atMs).toISOString())})</span>
        </span>
      </div>
      <TimeSlider {...{ player, facts, marks }} />
      <ErrorLine error={facts.error ?? undefined} />
      <p class="quiet" role="status">
        {statusWords(isLive, facts)}
      </p>
    </>
  );
}

/** The moment, and below it ticks where the marks are; the list of marks says the same in words. */
function TimeSlider({ player, facts: { first_ms, ready_ms }, marks }: ControlsProps) {
  const atMs = player.atMs.value;
  const ticks = useMemo(
    () => (
      <div class="ticks" aria-hidden="true">
        {marks.map((mark) => (
          <i
            key={mark.seq}
            class={`is-${mark.kind}`}
            style={{ left: `${((mark.atMs - first_ms) / Math.max(1, ready_ms - first_ms)) * 100}%` }}
            title={`${momentWords(mark.atMs)} ${visible(mark.words)}`}
            onClick={() => player.seek(shownAt(mark, marks))}
          />
        ))}
      </div>
    ),
    [player, marks],
  );
  return (
    <div class="timeline-slider">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${momentWords(atMs)} of ${momentWords(ready_ms)}`}
        min={first_ms}
        max={ready_ms}
        step={1}
        value={atMs}
        onInput={(event) => player.seek(event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => {
          const step = steps[event.key];
          if (step === undefined) return;
          event.preventDefault();
          player.seek(atMs + step);
        }}
      />
      {ticks}
    </div>
  );
}

function statusWords(isLive: boolean, { is_ready, is_cut, ready_ms, first_ms }: ReelFacts): string {
  const words: string[] = [];
  if (!is_ready) words.push(`The recording is being read: up to ${momentWords(ready_ms)} can be shown.`);
  if (isLive) words.push('The task runs: the recording grows.');
  if (is_cut)
    words.push(`The recording has more than 50 MB: what was before ${momentWords(first_ms)} is not shown.`);
  else if (first_ms > 0) words.push(`What was before ${momentWords(first_ms)} is no longer kept.`);
  return words.join(' ');
}

/** The marks in words; a press on one shows its moment. Drawn again only when the moment has another one. */
function MarkList({ player, marks }: Pick<ControlsProps, 'player' | 'marks'>) {
  const now = marks.findLast(({ atMs }) => atMs <= player.atMs.value);
  return useMemo(
    () => (
      <section class="marks" aria-label="What happened">
        <ol>
          {marks.map((mark) => (
            <li key={mark.seq}>
              <Button
                look={`is-${mark.kind}`}
                aria-current={mark === now ? 'true' : undefined}
                act={() => player.seek(shownAt(mark, marks))}
              >
                <span class="quiet">{momentWords(mark.atMs)}</span>{' '}
                <span dir="auto">{visible(mark.words)}</span>
              </Button>
            </li>
          ))}
        </ol>
      </section>
    ),
    [player, marks, now],
  );
}
