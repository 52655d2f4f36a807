import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rulesContract } from '../../../src/cli/rules-contract.js';
import { tempFolder } from '../../harness/temp-folder.js';
import { describeRealClaude } from '../../harness/real-claude.js';

const never = new AbortController().signal;
const contract = (claude: string) => rulesContract(claude, process.env['PATH'] ?? '', never);

describeRealClaude('the rules that the bridge gives to Claude Code', ({ binary }) => {
  test('are held as the bridge relies on, each tool that it offers has a row, and nothing of a sleeping project runs', async () => {
    expect(await contract(binary)).toEqual([]);
  });

  test('are not all: one that reads what a prompt names after @ is seen', async () => {
    const claude = join(await tempFolder(), 'claude');
    const script = `#!/bin/sh\nunset CLAUDE_CODE_DISABLE_FILE_MENTIONS\nexec '${binary}' "$@"\n`;
    await writeFile(claude, script, { mode: 0o755 });
    expect(await contract(claude)).toEqual(['a file that a prompt names after @ is read unasked']);
  });
});
