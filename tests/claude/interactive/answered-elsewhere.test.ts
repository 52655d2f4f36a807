import { expect, test } from 'vitest';
import { AnsweredElsewhere } from '../../../src/claude/interactive/answered-elsewhere.js';
import { ManualClock } from '../../harness/manual-clock.js';

/** A session with an open request whose dialog Claude Code says to stand, or not. */
function session() {
  const clock = new ManualClock();
  const state = { isWaiting: true, isBlocked: true as boolean | undefined, checks: 0, answered: 0 };
  const watch = new AnsweredElsewhere({
    clock,
    isWaiting: () => state.isWaiting,
    isBlocked: () => {
      state.checks++;
      return Promise.resolve(state.isBlocked);
    },
    onAnswered: () => state.answered++,
  });
  const look = async (hasMenu: boolean): Promise<void> => {
    watch.look(hasMenu);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, state, watch, look };
}

test('a dialog that is gone from the screen, and that Claude Code does not wait for, was answered', async () => {
  const { state, look } = session();
  await look(true);
  state.isBlocked = false;
  await look(false);
  expect(state).toMatchObject({ checks: 1, answered: 1 });
});

test('a dialog that is painted over stays open, and is checked once a second', async () => {
  const { clock, state, look } = session();
  await look(true);
  await look(false);
  await look(false);
  expect(state).toMatchObject({ checks: 1, answered: 0 });
  clock.advance(1_000);
  await look(false);
  expect(state).toMatchObject({ checks: 2, answered: 0 });
});

test('what Claude Code does not say leaves a request open, and so does a dialog that was not seen yet', async () => {
  const { state, look } = session();
  state.isBlocked = undefined;
  await look(false);
  expect(state.checks).toBe(0);
  await look(true);
  await look(false);
  expect(state).toMatchObject({ checks: 1, answered: 0 });
});

test('at the end of a turn a request is checked although its dialog was not seen', async () => {
  const { state, watch } = session();
  state.isBlocked = false;
  watch.turnEnded();
  await new Promise((resolve) => setImmediate(resolve));
  expect(state.answered).toBe(1);
});
