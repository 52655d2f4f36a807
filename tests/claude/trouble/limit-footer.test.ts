import { describe, expect, it } from 'vitest';
import { recogniseDialog } from '../../../src/claude/interactive/dialogs/registry.js';
import { readMenu } from '../../../src/claude/interactive/menu.js';
import { readLimitWords } from '../../../src/claude/interactive/screen-state.js';
import { readLimitFooter } from '../../../src/claude/trouble/limit-footer.js';
import { allScreenFixtures, screenFixture } from '../screen-fixtures.js';

const COLUMNS = 60;
const rule = '─'.repeat(COLUMNS);
const screen = (lines: readonly string[]) => ({ lines, columns: COLUMNS, cursor: { column: 2, row: 3 } });
const notice = '  ⚠ Usage limit reached · limit resets 9:44am';

describe('the notice of a limit below the input box', () => {
  it('is read where the CLI draws it', () => {
    const shown = screen([
      '● First a look.',
      '',
      rule,
      '❯ ',
      rule,
      notice,
      '    Continuing automatically',
      '',
    ]);
    expect(readLimitFooter(shown)).toBe('Usage limit reached · limit resets 9:44am');
  });

  it('is not trusted where the agent and programs print', () => {
    expect(readLimitFooter(screen([notice, rule, '❯ ', rule, '  ? for shortcuts']))).toBeUndefined();
    expect(readLimitFooter(screen([rule, notice, rule, '❯ ', rule, '  ? for shortcuts']))).toBeUndefined();
    expect(readLimitFooter(screen([notice]))).toBeUndefined();
  });
});

describe('of all recorded screens', () => {
  const screens = allScreenFixtures();
  const named = (found: typeof screens): string[] => found.map(({ version, name }) => `${version} ${name}`);

  it('only those of a limit have the notice', () => {
    const found = screens.filter((fixture) => readLimitFooter(fixture) !== undefined);
    expect(named(found)).toEqual(['2.1.330 usage-limit']);
  });

  it('only those of a limit have the menu that offers to wait', () => {
    const found = screens.filter(({ lines, columns }) => {
      const menu = readMenu(lines, columns);
      return menu !== undefined && recogniseDialog(menu)?.dialog.id === 'limit-options';
    });
    expect(named(found)).toEqual([
      '2.1.197 usage-limit',
      '2.1.197 usage-limit-week',
      '2.1.330 usage-limit-week',
    ]);
  });

  it('the text of the limit is read where the menu is shown', () => {
    expect(readLimitWords(screenFixture('2.1.197', 'usage-limit'))).toMatch(
      /^You've hit your session limit · resets \d+:\d+am \(UTC\)$/,
    );
  });
});
