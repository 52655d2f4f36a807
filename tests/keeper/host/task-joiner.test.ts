import { expect, it, onTestFinished } from 'vitest';
import type { Logger } from '../../../src/base/logger.js';
import type { KeptTask, Stay } from '../../../src/keeper/host/server-presence.js';
import { TaskJoiner } from '../../../src/keeper/host/task-joiner.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { until } from '../../harness/until.js';

const task = (name: string): KeptTask => ({ task_id: name, socket_path: `/run/${name}` });

/** A joiner of the tasks in `kept`, each of which answers as `answers` says; `asked` are those that were asked, in order. */
function joining(graceSeconds = 4) {
  const clock = new ManualClock();
  const kept: KeptTask[] = [];
  const answers = new Map<string, () => Promise<Stay>>();
  const asked: string[] = [];
  const warnings: string[] = [];
  const state = { looks: 0, fault: undefined as Error | undefined };
  const ignore = (): void => undefined;
  const logger: Logger = { debug: ignore, info: ignore, warn: (text) => warnings.push(text), error: ignore };
  const begin = (): TaskJoiner => {
    const joiner = new TaskJoiner({
      clock,
      logger,
      graceSeconds,
      tasks: async () => {
        state.looks++;
        if (state.fault !== undefined) throw state.fault;
        return [...kept];
      },
      stay: ({ task_id }) => {
        asked.push(task_id);
        return answers.get(task_id)?.() ?? Promise.resolve('staying');
      },
    });
    onTestFinished(() => joiner.dispose());
    return joiner;
  };
  /** Lets the next look happen, and what follows from it. */
  const look = async (): Promise<void> => {
    const looks = state.looks;
    await until('the next look is due', () => expect(clock.timerCount).toBe(1));
    clock.advance((graceSeconds * 1_000) / 4);
    await until('it has looked', () => expect(state.looks).toBe(looks + 1));
    await until('the next look is due', () => expect(clock.timerCount).toBe(1));
  };
  return { clock, kept, answers, asked, warnings, state, begin, look };
}

it('joins the tasks that are there at once, and later ones within a quarter of the time that they wait', async () => {
  const { kept, asked, begin, look, clock } = joining();
  kept.push(task('a'));
  begin();
  await until('a was asked', () => expect(asked).toEqual(['a']));
  kept.push(task('b'));
  await until('the next look is due', () => expect(clock.timerCount).toBe(1));
  clock.advance(999);
  expect(asked).toEqual(['a']);
  await look();
  expect(asked).toContain('b');
});

it('looks at least every two seconds', async () => {
  const { clock, state, begin } = joining(3_600);
  begin();
  await until('the next look is due', () => expect(clock.timerCount).toBe(1));
  clock.advance(2_000);
  await until('it has looked', () => expect(state.looks).toBe(2));
});

it('asks a task that needs no server once', async () => {
  const { kept, answers, asked, begin, look } = joining();
  kept.push(task('a'));
  answers.set('a', async () => 'not-needed');
  begin();
  await look();
  await look();
  expect(asked).toEqual(['a']);
});

it('tries again what could not be reached, and says so once', async () => {
  const { kept, answers, asked, warnings, begin, look } = joining();
  kept.push(task('a'));
  answers.set('a', () => Promise.reject(new Error('busy')));
  begin();
  await look();
  expect(asked).toEqual(['a', 'a']);
  expect(warnings).toEqual(['running tasks could not be joined']);
});

it('is held up by no keeper that does not answer, and asks it no second time meanwhile', async () => {
  const { kept, answers, asked, begin, look } = joining();
  kept.push(task('a'));
  answers.set('a', () => new Promise(() => undefined));
  begin();
  await look();
  kept.push(task('b'));
  await look();
  expect(asked).toEqual(['a', 'b']);
});

it('goes on when the folder of the sockets could not be read', async () => {
  const { kept, asked, state, warnings, begin, look } = joining();
  state.fault = new Error('gone');
  begin();
  await look();
  expect(warnings).toEqual(['running tasks could not be joined']);
  state.fault = undefined;
  kept.push(task('a'));
  await look();
  expect(asked).toEqual(['a']);
});

it('asks nobody and looks no more when it is disposed', async () => {
  const { clock, kept, asked, begin } = joining();
  kept.push(task('a'));
  begin().dispose();
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([]);
  expect(clock.timerCount).toBe(0);
});
