import { expect, test } from 'vitest';
import { AnsweredElsewhere } from '../../../src/claude/interactive/answered-elsewhere.js';
import { ManualClock } from '../../harness/manual-clock.js';

/** A session with an open request whose dialog Claude Code says to stand, or not. */
function session() {
  const clock = new ManualClock();
  const state = { open: ['hook-1'], isBlocked: true as boolean | undefined, checks: 0, answered: [''] };
  state.answered = [];
  const watch = new AnsweredElsewhere({
    clock,
    open: () => state.open,
    isBlocked: () => {
      state.checks++;
      return Promise.resolve(state.isBlocked);
    },
    onAnswered: (ids) => state.answered.push(...ids),
  });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    state,
    watch,
    look: async (hasMenu: boolean): Promise<void> => {
      watch.look(hasMenu);
      await settled();
    },
    passes: async (): Promise<void> => {
      clock.advance(1_000);
      await settled();
    },
  };
}

test('a dialog that is gone from the screen, and that Claude Code does not wait for, was answered', async () => {
  const { state, look, passes } = session();
  await look(true);
  state.isBlocked = false;
  await look(false);
  expect(state.answered).toEqual([]);
  await passes();
  expect(state).toMatchObject({ checks: 2, answered: ['hook-1'] });
});

test('a dialog that is painted over stays open, and is checked once a second', async () => {
  const { state, look, passes } = session();
  await look(true);
  await look(false);
  await look(false);
  await passes();
  expect(state).toMatchObject({ checks: 1, answered: [] });
  await look(false);
  await passes();
  expect(state).toMatchObject({ checks: 2, answered: [] });
});

test('the next request is not taken for answered because the one before it was', async () => {
  const { state, look, passes } = session();
  await look(true);
  state.isBlocked = false;
  await look(false);
  state.open = ['hook-2'];
  await passes();
  expect(state.answered).toEqual([]);
  // Its dialog is not on the screen yet.
  await look(false);
  await passes();
  expect(state.answered).toEqual([]);
});

test('a dialog that comes between two checks stays open', async () => {
  const { state, look, passes } = session();
  await look(true);
  state.isBlocked = false;
  await look(false);
  await look(true);
  await passes();
  expect(state.answered).toEqual([]);
});

test('what Claude Code does not say leaves a request open, and so does a dialog that was not seen yet', async () => {
  const { state, look, passes } = session();
  state.isBlocked = undefined;
  await look(false);
  expect(state.checks).toBe(0);
  await look(true);
  await look(false);
  await passes();
  expect(state).toMatchObject({ checks: 1, answered: [] });
});

test('a dialog that was answered before it could be seen is noticed after five seconds', async () => {
  const { state, look, passes } = session();
  state.isBlocked = false;
  for (let second = 0; second < 5; second++) {
    await look(false);
    await passes();
  }
  expect(state.checks).toBe(0);
  await look(false);
  await passes();
  expect(state.answered).toEqual(['hook-1']);
});

test('at the end of a turn a request is checked although its dialog was not seen', async () => {
  const { state, watch, passes } = session();
  state.isBlocked = false;
  watch.turnEnded();
  await new Promise((resolve) => setImmediate(resolve));
  await passes();
  expect(state.answered).toEqual(['hook-1']);
});
