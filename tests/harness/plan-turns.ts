import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedTurn } from '../../src/cli/demo/scripted-api.js';
import type { TestBridge } from './start-bridge.js';

/** Plans as the model does: the plan is written to the file that the CLI names, and only then shown. */
export function planTurns(bridge: TestBridge, plan: string): (() => ScriptedTurn)[] {
  return [
    () => ({ tools: [{ name: 'EnterPlanMode', input: {} }] }),
    () => ({ tools: [{ name: 'Write', input: { file_path: planFile(bridge), content: plan } }] }),
    () => ({ tools: [{ name: 'ExitPlanMode', input: {} }] }),
  ];
}

/** Throws until the CLI has written the name down; it asks again then. */
function planFile({ workplace }: TestBridge): string {
  const transcripts = join(workplace.homeDir, '.claude', 'projects');
  for (const name of readdirSync(transcripts, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.jsonl')) continue;
    const file = /"([^"]*\/plans\/[^"]*\.md)"/.exec(readFileSync(join(transcripts, name), 'utf8'))?.[1];
    if (file !== undefined) return file;
  }
  throw new Error('the CLI has named no file for the plan yet');
}
