// Pure: how a command of the agent ended, from what the CLI recorded.
import { z } from 'zod';
import type { ToolOutcome } from './transcript-entry.js';

export type CommandOutcome =
  | {
      readonly ran: true;
      /** null if unknown: the command runs in the background, was interrupted, or has only a description. */
      readonly exitCode: number | null;
      /** Why there is no exit code. */
      readonly note?: string;
      readonly output: string;
    }
  /** Denied or refused before it started. */
  | { readonly ran: false; readonly why: string };

const bashSchema = z.object({
  stdout: z.string().catch(''),
  stderr: z.string().catch(''),
  interrupted: z.boolean().catch(false),
  backgroundTaskId: z.string().optional(),
  returnCodeInterpretation: z.string().nullish(),
});
/** The start of the text of a failed command, in both pinned versions. */
const EXIT_CODE = /^(?:Error: )?Exit code (\d+)\n?/;

export function commandOutcome({ isError, text, details }: ToolOutcome): CommandOutcome {
  if (isError) {
    const match = EXIT_CODE.exec(text);
    if (match === null) return { ran: false, why: text };
    return { ran: true, exitCode: Number(match[1]), output: text.slice(match[0].length) };
  }
  const bash = bashSchema.safeParse(details).data;
  if (bash === undefined) return { ran: true, exitCode: 0, output: text };
  const output = bash.stderr === '' ? bash.stdout : `${bash.stdout}\n${bash.stderr}`;
  if (bash.backgroundTaskId !== undefined)
    return { ran: true, exitCode: null, note: 'runs in the background', output };
  if (bash.interrupted) return { ran: true, exitCode: null, note: 'interrupted', output };
  const words = bash.returnCodeInterpretation ?? '';
  if (words !== '') return { ran: true, exitCode: null, note: words, output };
  return { ran: true, exitCode: 0, output };
}
