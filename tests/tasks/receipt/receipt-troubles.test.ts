import { expect, it } from 'vitest';
import { TroubleNotes } from '../../../src/tasks/receipt/receipt-troubles.js';

const began = (seq: number, kind = 'usage-limit') => ({
  seq,
  at: `2026-11-22T0${seq}:00:00.000Z`,
  type: 'trouble',
  kind,
  text: "You've hit your 5-hour limit · resets 9:31am (UTC)",
});
const over = (seq: number) => ({
  seq,
  at: `2026-11-22T0${seq}:00:00.000Z`,
  type: 'trouble-over',
  kind: 'usage-limit',
});

it('trouble that passed is told with its kind, its words, its begin and its end', () => {
  const notes = new TroubleNotes();
  notes.take(began(1));
  notes.take(over(3));
  expect(notes.lines).toEqual([
    "Trouble (usage-limit), told at 2026-11-22T01:00:00.000Z: You've hit your 5-hour limit · resets 9:31am (UTC). The session went on at 2026-11-22T03:00:00.000Z.",
  ]);
});

it('trouble that stayed is told, too, and nothing is told of a task without any', () => {
  const notes = new TroubleNotes();
  notes.take({ seq: 1, at: '2026-11-22T01:00:00.000Z', type: 'said', text: 'Hello.' });
  notes.take(over(2));
  expect(notes.lines).toEqual([]);
  notes.take(began(3));
  notes.take(began(4, 'network'));
  expect(notes.lines).toHaveLength(2);
  expect(notes.lines[1]).toMatch(/^Trouble \(network\), told at 2026-11-22T04/);
});

it('of very many the last ones are kept', () => {
  const notes = new TroubleNotes();
  for (let count = 0; count < 100; count++) notes.take(began(1, `kind-${count}`));
  expect(notes.lines).toHaveLength(20);
  expect(notes.lines.at(-1)).toContain('kind-99');
});
