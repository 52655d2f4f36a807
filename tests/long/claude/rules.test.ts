import { expect, test } from 'vitest';
import { rulesContract } from '../../../src/cli/rules-contract.js';
import { describeRealClaude } from '../../harness/real-claude.js';

describeRealClaude('the rules that the bridge gives to Claude Code', ({ binary }) => {
  test('are held as the bridge relies on, each tool that it offers has a row, and nothing of a sleeping project runs', async () => {
    const never = new AbortController().signal;
    expect(await rulesContract(binary, process.env['PATH'] ?? '', never)).toEqual([]);
  });
});
