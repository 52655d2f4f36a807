import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Channel } from '../../src/board/channel.js';
import { applyMessage, newReplica, type ChannelMessage, type Replica } from '../../src/board/replica.js';
import {
  emptyBoard,
  MAX_EVENTS,
  emptyTask,
  openOf,
  reduceBoard,
  reduceTask,
  type BoardAction,
  type BoardState,
  type ProcessCard,
} from '../../src/board/state.js';
import { cardOf, decisionViewOf } from '../../src/board/task-views.js';
import { decision, taskRecord } from '../tools/fake-task-service.js';

const ids = ['task_00000000000000000001', 'task_00000000000000000002', 'task_00000000000000000003'];
const end = {
  verdict: 'allow',
  by: 'caller',
  reason: null,
  edits: [],
  at: '2026-03-01T10:00:06.000Z',
} as const;

const anyAction: fc.Arbitrary<BoardAction> = fc
  .record({
    id: fc.constantFrom(...ids),
    number: fc.integer({ min: 1, max: 4 }),
    kind: fc.integer({ min: 0, max: 6 }),
    turns: fc.nat(9),
  })
  .map(({ id, number, kind, turns }) => {
    const decision_id = `dec_${number}`;
    const actions: BoardAction[] = [
      { type: 'task.upserted', task: cardOf(taskRecord({ task_id: id, turns })) },
      { type: 'task.removed', task_id: id },
      { type: 'task.unreadable', task_id: id, why: `why ${turns}` },
      { type: 'decision.opened', decision: decisionViewOf(id, decision({ decision_id })) },
      { type: 'decision.closed', task_id: id, decision_id, end },
      { type: 'process.upserted', process: processCard(`proc_${number}`, turns) },
      { type: 'process.removed', process_id: `proc_${number}` },
    ];
    return actions[kind] ?? { type: 'task.removed', task_id: id };
  });

function processCard(process_id: string, exit_code: number): ProcessCard {
  return {
    process_id,
    command_line: 'npm run dev',
    cwd: '/p',
    mode: 'host',
    keep: true,
    status: 'terminated',
    exit_code,
    signal: null,
    reason: null,
    started_at: end.at,
    ended_at: end.at,
  };
}

/** A step of a page: it gets an action, loses its connection, or comes back with what it has. */
type Step = { readonly action: BoardAction } | 'lost' | 'back';
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: anyAction.map((action) => ({ action })) },
  { weight: 1, arbitrary: fc.constant('lost' as const) },
  { weight: 2, arbitrary: fc.constant('back' as const) },
);

test('whatever a page misses and gets twice, it ends in the state of the board', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const channel = new Channel<BoardState, BoardAction>('board:/', emptyBoard, reduceBoard);
      let replica: Replica<BoardState> = newReplica;
      const take = (message: ChannelMessage<BoardState, BoardAction>): void => {
        // As over a connection: what arrives is a copy, and it may arrive twice.
        const copy = structuredClone(message);
        replica = applyMessage(applyMessage(replica, copy, reduceBoard), copy, reduceBoard);
      };
      let following = channel.subscribe(take);
      for (const step of steps) {
        if (step === 'lost') following.dispose();
        else if (step === 'back') {
          following.dispose();
          following = channel.subscribe(take, replica.seq);
        } else channel.dispatch(step.action);
      }
      following.dispose();
      channel.subscribe(take, replica.seq).dispose();
      expect(replica.state).toEqual(channel.state);
      expect(replica.isBehind).toBe(false);
    }),
  );
});

test('a page that missed more than is kept gets a gap and the whole state', () => {
  const channel = new Channel<BoardState, BoardAction>('board:/', emptyBoard, reduceBoard, 10);
  for (let turns = 0; turns < 5_000; turns++)
    channel.dispatch({ type: 'task.upserted', task: cardOf(taskRecord({ turns })) });
  const got: string[] = [];
  channel.subscribe(({ type }) => got.push(type), 12);
  expect(got).toEqual(['gap', 'snapshot']);
  const near: string[] = [];
  channel.subscribe(({ type }) => near.push(type), channel.seq - 2);
  expect(near).toEqual(['action', 'action']);
});

test('after a gap the page shows what it had until the snapshot is there, and takes no action before', () => {
  const message = { type: 'snapshot', channel: 'board:/', seq: 4, state: emptyBoard } as const;
  const whole = applyMessage<BoardState, BoardAction>(newReplica, message, reduceBoard);
  const behind = applyMessage<BoardState, BoardAction>(
    whole,
    { type: 'gap', channel: 'board:/' },
    reduceBoard,
  );
  expect(behind).toMatchObject({ state: emptyBoard, isBehind: true });
  const action: BoardAction = { type: 'process.upserted', process: processCard('proc_1', 0) };
  const early = applyMessage(behind, { type: 'action', channel: 'board:/', seq: 1, action }, reduceBoard);
  expect(early).toMatchObject({ state: emptyBoard, isBehind: true });
  expect(applyMessage(early, { ...message, seq: 2 }, reduceBoard)).toMatchObject({ seq: 2, isBehind: false });
});

test('a removed task takes its questions along', () => {
  const [first = '', second = ''] = ids;
  const state = [first, second].reduce<BoardState>(
    (before, id) =>
      reduceBoard(before, { type: 'decision.opened', decision: decisionViewOf(id, decision()) }),
    emptyBoard,
  );
  const after = reduceBoard(state, { type: 'task.removed', task_id: first });
  expect(openOf(after.decisions).map(({ task_id }) => task_id)).toEqual([second]);
});

test('a closed question stays with its task, with who answered it', () => {
  const opened = reduceTask(emptyTask, {
    type: 'decision.opened',
    decision: decisionViewOf(taskRecord().task_id, decision()),
  });
  const { decisions } = reduceTask(opened, {
    type: 'decision.closed',
    task_id: taskRecord().task_id,
    decision_id: 'dec_1',
    end,
  });
  expect(openOf(decisions)).toEqual([]);
  expect(decisions['dec_1']?.closed).toEqual(end);
});

test('events come once and in order, and the oldest make room', () => {
  const event = (seq: number) => ({ seq, at: '2026-03-01T10:00:06.000Z', type: 'said', text: `${seq}` });
  const first = reduceTask(emptyTask, { type: 'event.appended', events: [event(1), event(2)] });
  const again = reduceTask(first, { type: 'event.appended', events: [event(2), event(3)] });
  expect(again.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  const many = Array.from({ length: MAX_EVENTS }, (_, at) => event(at + 4));
  const full = reduceTask(again, { type: 'event.appended', events: many });
  expect(full.events).toHaveLength(MAX_EVENTS);
  expect(full.earlier_events).toBe(3);
});
