import type { ScriptedTurn } from '../../src/cli/demo/scripted-api.js';

/** The model runs a command. */
export function runs(command: string, say?: string): ScriptedTurn {
  return {
    ...(say !== undefined && { say }),
    tools: [{ name: 'Bash', input: { command, description: 'a step of the work' } }],
  };
}

export function says(say: string): ScriptedTurn {
  return { say };
}

/** Longer than any test; ends when the caller hangs up. */
const NEVER_MS = 300_000;

/** A turn that only an end or an interrupt ends. */
export const thinksForEver: ScriptedTurn = { say: 'never said', delayMs: NEVER_MS };

/** The model asks the user. */
export function asks(
  question: string,
  labels: readonly string[],
  { multiSelect = false }: { readonly multiSelect?: boolean } = {},
): ScriptedTurn {
  const options = labels.map((label) => ({ label, description: `${label}, as described` }));
  return {
    tools: [
      {
        name: 'AskUserQuestion',
        input: { questions: [{ question, header: 'Choice', multiSelect, options }] },
      },
    ],
  };
}
