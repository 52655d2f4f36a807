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

test('a budget is reported in words', () => {
  const lines = entriesOf(
    events(
      { type: 'budget', state: 'low', words: '$1.62 of $2.00' },
      { type: 'budget', state: 'used', refused: 'toolu_1' },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual([
    'Four fifths of a budget are used: $1.62 of $2.00.',
    'The budget is used up: a call did not run.',
  ]);
});

test('the checks of a turn are one line', () => {
  const results = [
    { name: 'unit', verdict: 'met' },
    { name: 'lint', verdict: 'not met', output: 'a long one' },
  ];
  const lines = entriesOf(events({ type: 'checks', results, rounds: 0 }));
  expect(lines.map(({ words }) => words)).toEqual(['Checks: unit met, lint not met.']);
});

const asked = { tool: 'Bash', summary: 'Bash(npm test)' };

test('the line of a command that was edited says what ran', () => {
  const edits = [{ field: 'command', asked: 'npm test', allowed: 'npm run lint' }];
  const lines = entriesOf(
    events(
      { type: 'tool-started', ...asked },
      { type: 'decision-asked', ...asked },
      { type: 'status', from: 'running', to: 'waiting', reason: 'Waits for an answer to: Bash(npm test)' },
      { type: 'decision-closed', ...asked, verdict: 'allow', answered_by: 'board/chrome-1', edits },
      { type: 'tool-finished', tool: 'Bash', summary: 'Bash(npm run lint)', ok: true, exit_code: 0 },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual([
    '? Bash(npm test)',
    '✓ allowed as edited: Bash(npm run lint), by board/chrome-1',
    '✓ Bash(npm run lint): exit code 0',
  ]);
  expect(lines[1]?.detail).toBe('command as asked:\nnpm test\n\ncommand as allowed:\nnpm run lint');
});

test('a tool that was denied does not run, asked about or not', () => {
  for (const between of [[], [{ type: 'decision-asked', ...asked }]]) {
    const lines = entriesOf(
      events({ type: 'tool-started', ...asked }, ...between, {
        type: 'decision-closed',
        ...asked,
        verdict: 'deny',
        answered_by: 'rule',
      }),
    );
    expect(lines.filter(({ kind }) => kind === 'tool')).toEqual([]);
    expect(lines.at(-1)?.words).toBe('✗ denied: Bash(npm test), by rule');
  }
});

test('a tool that has no end says how its turn or its task ended', () => {
  const start = { type: 'tool-started', tool: 'Read', summary: 'Read(a)' };
  const words = (end: Readonly<Record<string, unknown>>) => entriesOf(events(start, end))[0]?.words;
  expect(words({ type: 'turn-ended', interrupted: true })).toBe('– Read(a): interrupted');
  expect(words({ type: 'ended', status: 'killed' })).toBe('– Read(a): it ended with the task');
});

test('a question is two lines, and its answer stands where it was given', () => {
  const question = { tool: 'AskUserQuestion', summary: 'Which color?' };
  const lines = entriesOf(
    events(
      { type: 'tool-started', ...question },
      { type: 'decision-asked', ...question },
      { type: 'said', text: 'Meanwhile.' },
      { type: 'decision-closed', ...question, verdict: 'allow', answered_by: 'board/chrome-1' },
      { type: 'tool-finished', tool: 'AskUserQuestion', ok: true },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual([
    '? Which color?',
    'Meanwhile.',
    '✓ allowed: Which color?, by board/chrome-1',
  ]);
});

test('what was said stands before the tool that it led to, also when it was read later', () => {
  const at = (second: number) => `2026-03-01T10:00:0${second}.000Z`;
  const lines = entriesOf(
    events(
      { type: 'message', text: 'Do it.', at: at(3) },
      { type: 'tool-started', tool: 'Read', summary: 'Read(a)', at: at(6) },
      { type: 'tool-finished', tool: 'Read', ok: true, at: at(7) },
      { type: 'said', text: 'I look first.', said_at: at(5), at: at(8) },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual(['Do it.', 'I look first.', '✓ Read(a)']);
});

test('what is done at a terminal is told in words, and who only watches is not told of', () => {
  const lines = entriesOf(
    events(
      { type: 'attached', columns: 120, rows: 40, read_only: true, watchers: 1 },
      { type: 'typed', by: 'terminal', bytes: 20 },
      { type: 'interrupt', by: 'board/chrome-1' },
      { type: 'detached', watchers: 0 },
    ),
  );
  expect(lines.map(({ words }) => words)).toEqual([
    'A person typed at the terminal: 20 bytes.',
    'Interrupted by board/chrome-1.',
  ]);
});

test('an event that this version does not know is shown with its fields', () => {
  const [line] = entriesOf(events({ type: 'weather', state: 'failing', words: 'it rains' }));
  expect(line).toMatchObject({ kind: 'note', words: 'weather: state failing, words it rains' });
});
