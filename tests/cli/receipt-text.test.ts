import { expect, it } from 'vitest';
import { receiptLines } from '../../src/cli/receipt-text.js';
import { sampleReceipt } from '../tasks/sample-task.js';

it('a denial is shown with its reason, where it has one', () => {
  const denied = { tool: 'Bash', summary: 'Bash(ls)', by: 'command line' };
  const denials = [
    { ...denied, reason: '' },
    { ...denied, reason: 'Not now.' },
  ];
  expect(receiptLines(sampleReceipt({ denials, denials_total: 2 })).join('\n')).toContain(
    'Bash(ls) (by command line)\n  Bash(ls) (by command line: Not now.)',
  );
});
