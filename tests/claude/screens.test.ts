import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { recogniseDialog } from '../../src/claude/interactive/dialogs.js';
import { readMenu } from '../../src/claude/interactive/menu.js';
import {
  isComposerEmpty,
  readRetryNotice,
  readScreenState,
  readStartTrouble,
} from '../../src/claude/interactive/screen-state.js';
import { Screen } from '../../src/screen/screen.js';
import { normaliseScreen } from '../../scripts/normalise-screen.js';
import { allScreenFixtures, recordedBytes, type ScreenFixture } from './screen-fixtures.js';

/** Everything that the bridge reads from a screen. */
function readingOf(fixture: ScreenFixture) {
  const menu = readMenu(fixture.lines, fixture.columns);
  const found = menu === undefined ? undefined : recogniseDialog(menu);
  return {
    state: readScreenState(fixture),
    trouble: readStartTrouble(fixture)?.kind ?? null,
    dialog: found?.dialog.id ?? null,
    ...(found === undefined ? {} : { asks: found.asks }),
    ...(menu === undefined ? {} : { options: menu.options, selected: menu.options[menu.selected] }),
    composerEmpty: isComposerEmpty(fixture),
    retrying: readRetryNotice(fixture) ?? null,
  };
}

describe.each(allScreenFixtures())('$version $name', (fixture) => {
  it('is read as expected.json says', async () => {
    const text = `${JSON.stringify(readingOf(fixture), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(fixture.folder, 'expected.json'));
  });

  it('is what the recording ends in', async () => {
    const { columns, rows } = fixture;
    const screen = new Screen({ columns, rows, scrollback: 100, clock: systemClock, reply: () => {} });
    void screen.feed(recordedBytes(fixture));
    await screen.parsed();
    const shown = screen.snapshot();
    screen.dispose();
    expect(normaliseScreen(shown.text())).toBe(fixture.text);
    expect(shown.cursor).toEqual(fixture.cursor);
  });
});

it.each([
  ['❯', true],
  ['!', false],
])('an empty input box behind %s takes a prompt: %s', (sign, isEmpty) => {
  const rule = '─'.repeat(120);
  const lines = [rule, `${sign}  `, rule];
  expect(isComposerEmpty({ lines, columns: 120, cursor: { column: 2, row: 1 } })).toBe(isEmpty);
});

describe('lines above the welcome', () => {
  const below = ['Welcome to Claude Code v2.1.330', '', ' Unable to connect to Anthropic services'];
  const troubleOf = (lines: readonly string[]) =>
    readStartTrouble({ lines, columns: 120, cursor: { column: 0, row: 0 } })?.kind;

  it('may be of the CLI itself', () => {
    expect(troubleOf(['A backup file exists at: /home/a/.claude/backups/b', ...below])).toBe('network');
  });

  it('make it one of a session', () => {
    expect(troubleOf(['● I write:', ...below])).toBeUndefined();
  });
});
