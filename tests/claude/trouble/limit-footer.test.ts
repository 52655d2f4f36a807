import { describe, expect, it } from 'vitest';
import { readLimitFooter } from '../../../src/claude/trouble/limit-footer.js';

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

  it('is not believed where the agent and programs print', () => {
    expect(readLimitFooter(screen([notice, rule, '❯ ', rule, '  ? for shortcuts']))).toBeUndefined();
    expect(readLimitFooter(screen([rule, notice, rule, '❯ ', rule, '  ? for shortcuts']))).toBeUndefined();
    expect(readLimitFooter(screen([notice]))).toBeUndefined();
  });
});
