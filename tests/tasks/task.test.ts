import { describe, expect, it } from 'vitest';
import { canMove, isFinal, openDecisions, taskRecordSchema, taskStatuses } from '../../src/tasks/task.js';
import { sampleRecord } from './sample-task.js';

const finals = ['completed', 'failed', 'timeout', 'killed', 'error'] as const;

describe('the table of moves', () => {
  it('a final status has no successor', () => {
    expect(taskStatuses.filter(isFinal)).toEqual(finals);
    for (const from of finals)
      for (const to of taskStatuses) expect(canMove(from, to), `${from} → ${to}`).toBe(false);
  });

  it('nothing goes back, and nothing stays by a move', () => {
    for (const status of taskStatuses) {
      expect(canMove(status, status)).toBe(false);
      expect(canMove(status, 'pending')).toBe(false);
      expect(canMove(status, 'starting')).toBe(status === 'pending');
    }
  });

  it('every status that is not final can be killed and can end as error', () => {
    for (const status of taskStatuses.filter((one) => !isFinal(one))) {
      expect(canMove(status, 'killed'), status).toBe(true);
      expect(canMove(status, 'error'), status).toBe(true);
    }
  });

  it('only what runs can wait, complete or take too long', () => {
    expect(canMove('running', 'waiting') && canMove('waiting', 'running')).toBe(true);
    expect(canMove('pending', 'completed') || canMove('starting', 'completed')).toBe(false);
    expect(canMove('pending', 'timeout')).toBe(false);
  });
});

it('a record that has just begun is one that can be read back', () => {
  const record = sampleRecord();
  expect(taskRecordSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
  expect(openDecisions(record)).toEqual([]);
});
