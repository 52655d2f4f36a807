import { expect, it } from 'vitest';
import { TerminalLog } from '../../src/cli/terminal-log.js';
import { localTime, wrapped } from '../../src/cli/terminal-text.js';
import { piped, terminal } from './looks.js';

const at = (second: number): string => `2026-01-01T12:00:${String(second).padStart(2, '0')}.000Z`;
const nowMs = Date.parse(at(0));

/** What is written for a log that comes in these pieces. */
function shown(pieces: readonly string[], look = terminal(40)): string {
  let text = '';
  const log = new TerminalLog(look, nowMs, (more) => (text += more));
  for (const piece of pieces) log.write(piece);
  log.end();
  return text;
}

it('an entry has its local time, its mark in a colour, and rows that are broken at words', () => {
  const log = `[${at(5)}] ▶ Bash(npm run build && npm test --silent)\n    indented output\nplain\n`;
  const time = `<dim>${localTime(at(5))} </dim>`;
  expect(shown([log.slice(0, 33), log.slice(33)])).toBe(
    `${time}<cyan>▶</cyan> Bash(npm run build && npm\n         test --silent)\n    indented output\nplain\n`,
  );
});

it('entries of another day come below their date', () => {
  expect(shown(['[2025-11-30T12:00:00.000Z] The turn is over\n'])).toMatch(/^<dim>2025-1\d-\d\d<\/dim>\n/);
});

it('a step that took long says how long, and one of the same words that did not says nothing', () => {
  const step = (from: number, to: number): string =>
    `[${at(from)}] ▶ Bash(make)\n[${at(to)}] ✓ Bash(make): exit code 0\n`;
  expect(shown([step(0, 42)], terminal(80))).toContain('Bash(make): exit code 0 (42s)\n');
  expect(shown([step(0, 9)], terminal(80))).toContain('Bash(make): exit code 0\n');
});

it('the last line says what runs when no entry has come for long, and goes before the next one', () => {
  let text = '';
  const log = new TerminalLog(terminal(40), nowMs, (more) => (text += more));
  log.write(`[${at(0)}] ▶ Bash(make)\n`);
  log.working('Bash(make)', nowMs + 9_000);
  expect(text).not.toContain('…');
  log.working('Bash(make)', nowMs + 75_000);
  expect(text).toMatch(/\r\x1b\[K<dim>… Bash\(make\) \(1m 15s\)<\/dim>$/);
  log.write(`[${at(59)}] The turn is over\n`);
  expect(text).toMatch(/\r\x1b\[K<dim>[\d:]+ <\/dim>The turn is over\n$/);
});

it('elsewhere than in a terminal the log stays as it is', () => {
  const log = `[${at(5)}] ✓ ${'long '.repeat(50)}\nno end`;
  expect(shown([log], piped)).toBe(log);
});

it('rows hold every character, break before words, and through a word that is wider than a row', () => {
  expect(wrapped('one two  three', 7, '  ')).toEqual(['one two  ', '  three']);
  expect(wrapped('abcdefghij', 4, ' ')).toEqual(['abcd', ' efg', ' hij']);
  expect(wrapped('修正所有測試', 5)).toEqual(['修正', '所有', '測試']);
});

it('a line without end is shown in parts, and its control characters as escapes', () => {
  let text = '';
  const log = new TerminalLog(terminal(80), nowMs, (more) => (text += more));
  for (let part = 0; part < 40; part++) void log.write('y'.repeat(2_000));
  expect(text.replaceAll('\n', '')).toMatch(/^y{60000,}$/);
  void log.write('\u001b[2J\r\n');
  expect(text).toMatch(/\\u001b\[2J\\u000d\n$/);
});
