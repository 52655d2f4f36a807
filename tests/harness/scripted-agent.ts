import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Workplace } from './workplace.js';

/** A program that is not Claude Code; `AGENT: <behaviour>` in the prompt says what it does. */
export const scriptedAgent = fileURLToPath(
  new URL('../fixtures/programs/scripted-agent.mjs', import.meta.url),
);

/** The same program by the name `claude`, so that it is driven as Claude Code is. */
export async function agentNamedClaude(workplace: Workplace): Promise<string> {
  return writeProgram(
    workplace,
    'claude',
    `[ "$1" = --version ] && { echo '2.1.330 (Claude Code)'; exit 0; }
exec '${process.execPath}' '${scriptedAgent}' "$@"`,
  );
}

/** Settings with which the prompts of the scripted agent are passed on instead of answered. */
export const asksAboutPrompts = [
  { rule: 'terminal-prompt', verdict: 'ask', reason: 'a person decides' },
] as const;

/** The same as environment of a server. */
export const asksEnv = { MCP_RULES: JSON.stringify(asksAboutPrompts) };

/** A program that is not called `claude` is asked what it is before it is started. */
const SAYS_WHAT_IT_IS = `[ "$1" = --version ] && { echo 'agent 1.0'; exit 0; }`;

/** An executable shell script in the workplace. */
export async function writeProgram(workplace: Workplace, name: string, script: string): Promise<string> {
  const path = join(workplace.root, name);
  const first = name === 'claude' ? '' : `${SAYS_WHAT_IT_IS}\n`;
  await writeFile(path, `#!/bin/sh\n${first}${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** The same as option of a bridge, which writes it into its own workplace. */
export function program(name: string, script: string): (workplace: Workplace) => Promise<string> {
  return (workplace) => writeProgram(workplace, name, script);
}

/** The behaviours `exit <code>` and `never-exits` as a shell script, which starts in a tenth of the time: for many short tasks. */
export async function quickAgent(workplace: Workplace): Promise<string> {
  return writeProgram(
    workplace,
    'quick-agent',
    `read -r _ behaviour code
case $behaviour in
  exit) echo "exiting with $code"; exit "$code" ;;
  never-exits) echo working; while :; do sleep 600; done ;;
  *) echo "unknown behaviour"; exit 64 ;;
esac`,
  );
}
