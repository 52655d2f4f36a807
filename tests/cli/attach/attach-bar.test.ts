import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  answerFor,
  AttachKeys,
  askingBar,
  barAt,
  detachByte,
  requestRows,
} from '../../../src/cli/attach/attach-bar.js';
import type { Decision } from '../../../src/tasks/task.js';

const DETACH = 0x1d;
const kinds = (keys: AttachKeys, text: string): string[] =>
  keys
    .read(Buffer.from(text))
    .map((action) => (action.kind === 'keys' ? action.bytes.toString() : action.kind));
const SIZE = { columns: 80, rows: 24 };
const ASKING = { more: 0, detachKey: 'ctrl-]', isChoosing: false };
const CHOOSING = { ...ASKING, isChoosing: true };

function asked(command: string, more: Partial<Decision> = {}): Decision {
  return {
    decision_id: 'dec_1',
    kind: 'permission',
    tool: 'Bash',
    summary: `Bash(${command.slice(0, 190)}…)`,
    input: { command },
    options: [],
    asked_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T00:10:00.000Z',
    closed_at: null,
    verdict: null,
    answered_by: null,
    reason: null,
    ...more,
  };
}

/** The rows of a request of one line. */
function unwrapped(rows: readonly string[] | undefined): string {
  const [first = '', ...more] = (rows ?? []).slice(1);
  expect(more.filter((row) => !row.startsWith('  '))).toEqual([]);
  return [first, ...more.map((row) => row.slice(2))].join('');
}

it('the whole request stands above the keys that allow it', () => {
  const command = `echo ${'ok '.repeat(105)}; touch made`;
  const shown = requestRows(asked(command), SIZE);
  expect(shown?.[0]).toBe('Bash');
  expect(unwrapped(shown)).toBe(`| ${command}`);
  const bar = askingBar(asked(command), CHOOSING, SIZE);
  expect(bar.at(-1)).toBe('▸ ctrl-] leaves · y allow once · s for this session · n deny');
  const drawn = barAt(bar, SIZE);
  expect(drawn.replace(/\x1b\[[^A-Za-z]*[A-Za-z]/g, '')).toContain('touch made');
  expect(drawn).toContain(`\x1b[${SIZE.rows};1H`);
  expect(answerFor(asked(command), 'y', SIZE)).toMatchObject({ verdict: 'allow' });
});

it.each([
  ['with more than the terminal shows', asked(`echo ${'ok '.repeat(600)}; touch made`)],
  ['of many lines', asked(`echo${'\n:'.repeat(30)}touch made`)],
  ['that the record holds cut', asked('echo ok', { input_is_cut: true })],
])('a request %s can be denied, and not allowed', (_, decision) => {
  expect(requestRows(decision, SIZE)).toBeUndefined();
  expect(askingBar(decision, ASKING, SIZE)[0]).toContain('? ctrl-] then n answers, ');
  const keys = askingBar(decision, CHOOSING, SIZE).slice(1).join('');
  expect(keys).not.toContain('allow');
  expect(keys).toContain('n deny');
  expect(answerFor(decision, 'y', SIZE)).toBeUndefined();
  expect(answerFor(decision, 's', SIZE)).toBeUndefined();
  expect(answerFor(decision, 'n', SIZE)).toMatchObject({ verdict: 'deny' });
});

it('a question and its labels have no hidden character', () => {
  const question = {
    question: 'Which\u200b?',
    header: '',
    multiSelect: false,
    options: [{ label: 'a\u3164' }],
  };
  const decision = asked('', { questions: [question] });
  expect(askingBar(decision, ASKING, SIZE)[0]).toContain('Which\\u200b?');
  expect(askingBar(decision, CHOOSING, SIZE).join('')).toContain('1 a\\u3164');
});

it('says how to leave and how to answer in a terminal of 60 columns, too', () => {
  const size = { columns: 60, rows: 24 };
  const decision = asked('npm test');
  for (const how of [ASKING, CHOOSING]) {
    const drawn = barAt(askingBar(decision, how, size), size).replace(
      /\x1b(?:\[[^A-Za-z]*[A-Za-z]|[78])/g,
      '',
    );
    expect(drawn).toMatch(/leaves/);
    expect(drawn).toMatch(/\bs\b.*\bn\b/);
  }
});

it('a character that nobody sees is shown as an escape', () => {
  expect(requestRows(asked('rm \u202etxt.a\u0008'), SIZE)).toEqual(['Bash', '| rm \\u202etxt.a\\u0008']);
});

it('rows hold every character of the request, and none is wider than the terminal', () => {
  const size = fc.record({
    columns: fc.integer({ min: 10, max: 200 }),
    rows: fc.integer({ min: 3, max: 60 }),
  });
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), size, (command, { columns, rows }) => {
      const text = command.replace(/\s/g, '_');
      const shown = requestRows(asked(text), { columns, rows });
      if (shown === undefined) return;
      expect(shown.every((row) => [...row].length < columns)).toBe(true);
      expect(shown.length).toBeLessThan(rows);
      if (/^[ -~]+$/.test(text)) expect(unwrapped(shown)).toBe(`| ${text}`);
    }),
  );
});

it('keys are passed on as they come, up to the detach key', () => {
  const keys = new AttachKeys(DETACH, () => false);
  expect(kinds(keys, 'héllo\r\x1b[A')).toEqual(['héllo\r\x1b[A']);
  expect(kinds(keys, 'last\x1dnever')).toEqual(['last', 'detach']);
});

it('while something is asked the detach key begins an answer, and twice it detaches', () => {
  const keys = new AttachKeys(DETACH, () => true);
  expect(keys.read(Buffer.from('\x1dY'))).toEqual([{ kind: 'choosing' }, { kind: 'chosen', key: 'y' }]);
  expect(kinds(keys, '\x1d')).toEqual(['choosing']);
  expect(keys.read(Buffer.from('3on'))).toEqual([
    { kind: 'chosen', key: '3' },
    { kind: 'keys', bytes: Buffer.from('on') },
  ]);
  expect(kinds(keys, '\x1dxy')).toEqual(['choosing', 'chosen', 'y']);
  expect(kinds(keys, '\x1d\x1d')).toEqual(['choosing', 'detach']);
});

it('what people press to leave a program is noticed; Ctrl-Z does not reach the session, since it would stop it', () => {
  expect(kinds(new AttachKeys(DETACH, () => false), 'a\x1ab')).toEqual(['a', 'b', 'leaving']);
  expect(kinds(new AttachKeys(DETACH, () => false), '\x03')).toEqual(['\x03', 'leaving']);
});

it.each([
  ['ctrl-]', 0x1d],
  ['^\\', 0x1c],
  ['Ctrl-A', 0x01],
])('%s is a detach key', (name, byte) => {
  expect(detachByte(name)).toBe(byte);
});

it.each(['ctrl-m', 'ctrl-[', 'x', '', 'ctrl-@'])('%j is none', (name) => {
  expect(() => detachByte(name)).toThrow(/cannot be used as the detach key/);
});
