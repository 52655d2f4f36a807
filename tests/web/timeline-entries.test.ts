import { expect, test } from 'vitest';
import type { TimelineEvent } from '../../src/board/state.js';
import { entriesOf } from '../../web/views/timeline-entries.js';

function events(...given: readonly Readonly<Record<string, unknown>>[]): TimelineEvent[] {
  return given.map((fields, at) => ({ seq: at + 1, at: '2026-03-01T10:00:00.000Z', type: '', ...fields }));
}

test('a tool and its end are one line, with what it printed', () => {
  const lines = entriesOf(
    events(
      { type: 'tool-started', tool: 'Bash', summary: 'Bash(npm test)' },
      { type: 'said', text: 'Meanwhile.' },
      { type: 'tool-finished', tool: 'Bash', ok: false, exit_code: 1, output: '1 failed' },
    ),
  );
  expect(lines).toMatchObject([
    { kind: 'failed', words: '✗ Bash(npm test): exit code 1', detail: '1 failed' },
    { kind: 'said', words: 'Meanwhile.' },
  ]);
});

test('of two tools of one name the first one ends first', () => {
  const lines = entriesOf(
    events(
      { type: 'tool-started', tool: 'Read', summary: 'Read(a)' },
      { type: 'tool-started', tool: 'Read', summary: 'Read(b)' },
      { type: 'tool-finished', tool: 'Read', ok: true },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual(['✓ Read(a)', '▶ Read(b)']);
});

test('a command that runs in the background has no outcome yet', () => {
  const [line] = entriesOf(
    events({
      type: 'tool-finished',
      summary: 'Bash(make &)',
      ok: true,
      exit_code: null,
      note: 'runs in the background',
    }),
  );
  expect(line?.words).toMatch(/^… .*runs in the background$/);
});

test('a decision is told with who answered it and why', () => {
  const [line] = entriesOf(
    events({
      type: 'decision-closed',
      summary: 'Bash(rm x)',
      verdict: 'deny',
      answered_by: 'rule',
      reason: 'never',
    }),
  );
  expect(line?.words).toBe('✗ denied: Bash(rm x), by rule: never');
});

test('an event that this version does not know is shown with its fields', () => {
  const [line] = entriesOf(events({ type: 'storage', state: 'failing', words: 'the disk is full' }));
  expect(line).toMatchObject({ kind: 'note', words: 'storage: state failing, words the disk is full' });
});
