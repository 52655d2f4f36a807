import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { dialogs, recogniseDialog } from '../../src/claude/interactive/dialogs/registry.js';
import { readMenu } from '../../src/claude/interactive/menu.js';
import {
  isComposerEmpty,
  readableText,
  readRetryNotice,
  readTurnEnd,
  readScreenState,
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
    dialog: found?.dialog.id ?? null,
    ...(found === undefined ? {} : { reading: found.reading }),
    ...(menu === undefined ? {} : { options: menu.options, selected: menu.options[menu.selected]?.label }),
    composerEmpty: isComposerEmpty(fixture),
    retrying: readRetryNotice(fixture) ?? null,
    turnEnd: readTurnEnd(fixture) ?? null,
    readable: readableText(fixture).split('\n'),
  };
}

describe.each(allScreenFixtures())('$version $name', (fixture) => {
  it('is read as expected.json says', async () => {
    const text = `${JSON.stringify(readingOf(fixture), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(fixture.folder, 'expected.json'));
  });

  it('is recognised by one dialog at most', () => {
    const menu = readMenu(fixture.lines, fixture.columns);
    const ids = dialogs.filter((dialog) => menu !== undefined && dialog.recognise(menu) !== undefined);
    expect(ids.length).toBeLessThanOrEqual(1);
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
