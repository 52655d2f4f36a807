import { describe, expect, it } from 'vitest';
import { RecordPush } from '../../../src/keeper/main/record-push.js';
import { initialRecord } from '../../../src/tasks/record/initial-record.js';
import { ManualClock } from '../../harness/manual-clock.js';

const record = initialRecord({
  spec: {
    task_id: 'task_00000000000000000000',
    project_path: '/p',
    permission_mode: 'auto',
    driver: 'interactive',
    model: null,
    keep_open: false,
    timeout_seconds: 60,
    created_at: '2026-01-01T00:00:00.000Z',
    settings: {
      shell: '/bin/sh',
      claude_command: ['claude'],
      auto_approve_patterns: [],
      decision_timeout_seconds: 600,
      max_log_size_bytes: 1000,
      pass_environment: [],
    },
  },
  prompt: 'x',
  owner: { pid: 1, start_time: null, boot_id: null },
  mark: 'm',
  socketPath: '/s',
  files: { logFile: '/l', promptFile: '/m' },
  now: 0,
});

describe('RecordPush', () => {
  it('tells an answer at once', () => {
    const clock = new ManualClock();
    let told = 0;
    const push = new RecordPush(clock, () => told++);
    push.changed({ ...record, change_seq: 1 });
    push.changed({ ...record, change_seq: 2, answered: true });
    clock.advance(0);
    expect(told).toBe(1);
    clock.advance(1_000);
    expect(told).toBe(1);
  });

  it('tells a burst of changes once, soon', () => {
    const clock = new ManualClock();
    let told = 0;
    const push = new RecordPush(clock, () => told++);
    for (let seq = 1; seq <= 5; seq++) push.changed({ ...record, change_seq: seq });
    clock.advance(20);
    expect(told).toBe(1);
  });

  it('tells changes of the view alone four times a second, however many there are', () => {
    const clock = new ManualClock();
    let told = 0;
    const push = new RecordPush(clock, () => told++);
    push.changed({ ...record, change_seq: 1 });
    clock.advance(20);
    for (let ms = 0; ms < 1000; ms += 10) {
      push.changed({ ...record, change_seq: 1 });
      clock.advance(10);
    }
    expect(told).toBe(1 + 4);
  });

  it('tells nothing again of a change that came while another waited to be told', () => {
    const clock = new ManualClock();
    let told = 0;
    const push = new RecordPush(clock, () => told++);
    push.changed({ ...record, change_seq: 1 });
    clock.advance(10);
    push.changed({ ...record, change_seq: 2 });
    clock.advance(10);
    expect(told).toBe(1);
    // Only the view has changed since: it is told calmly, not as news.
    push.changed({ ...record, change_seq: 2 });
    clock.advance(20);
    expect(told).toBe(1);
    clock.advance(230);
    expect(told).toBe(2);
  });

  it('does not keep a change waiting behind one of the view', () => {
    const clock = new ManualClock();
    const told: number[] = [];
    const push = new RecordPush(clock, () => told.push(clock.monotonicMs()));
    push.changed({ ...record, change_seq: 1 });
    clock.advance(20);
    push.changed({ ...record, change_seq: 1 });
    clock.advance(5);
    const beganMs = clock.monotonicMs();
    push.changed({ ...record, change_seq: 2 });
    clock.advance(20);
    expect(told.at(-1)).toBe(beganMs + 20);
  });
});
