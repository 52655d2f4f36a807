// Pure: how a command of the agent ended, from what the CLI recorded.
import { z } from 'zod';
import type { ToolOutcome } from './transcript-entry.js';

/** How a command that ran has ended. */
export interface CommandEnd {
  /** null if unknown: the command runs in the background, was interrupted, or has only a description. */
  readonly exitCode: number | null;
  /** Why there is no exit code. */
  readonly note?: string;
  /** Its standard output, then its standard error; the CLI cuts it after some 30,000 characters. */
  readonly output: string;
}

export type CommandOutcome =
  | (CommandEnd & { readonly ran: true })
  /** Denied or refused before it started. */
  | { readonly ran: false; readonly why: string };

/** The command goes on; its end is reported later. */
export const IN_BACKGROUND = 'runs in the background';
/** The note of a command that was running when the session ended. */
export const ENDED_WITH_SESSION = 'the session ended first';

/** 2.1.330 adds this to what a command in the background has printed. */
const ADDED_END = /\n*\[exited with code \d+\]\s*$/;

/** How a command in the background has ended; without an exit code it was stopped. */
export function backgroundCommandEnd(exitCode: number | null, output: string): CommandEnd {
  return {
    exitCode,
    ...(exitCode === null && { note: 'was stopped in the background' }),
    output: output.replace(ADDED_END, ''),
  };
}

const bashSchema = z.object({
  stdout: z.string().catch(''),
  stderr: z.string().catch(''),
  interrupted: z.boolean().catch(false),
  backgroundTaskId: z.string().optional(),
  returnCodeInterpretation: z.string().nullish(),
});
/** The model reads this when the dialog of a tool was denied, in both pinned versions. */
const DENIED_AT_DIALOG = /^The user doesn't want to (proceed|take this action)\b/;
/** The start of the text of a failed command, in both pinned versions. */
const EXIT_CODE = /^(?:Error: )?Exit code (\d+)\n?/;

export function commandOutcome({ isError, text, details }: Omit<ToolOutcome, 'id'>): CommandOutcome {
  if (isError) {
    const match = EXIT_CODE.exec(text);
    if (match === null) return { ran: false, why: text };
    return { ran: true, exitCode: Number(match[1]), output: text.slice(match[0].length) };
  }
  const bash = bashSchema.safeParse(details).data;
  if (bash === undefined) return { ran: true, exitCode: 0, output: text };
  const output = bash.stderr === '' ? bash.stdout : `${bash.stdout}\n${bash.stderr}`;
  if (bash.backgroundTaskId !== undefined) return { ran: true, exitCode: null, note: IN_BACKGROUND, output };
  if (bash.interrupted) return { ran: true, exitCode: null, note: 'interrupted', output };
  const words = bash.returnCodeInterpretation ?? '';
  if (words !== '') return { ran: true, exitCode: null, note: words, output };
  return { ran: true, exitCode: 0, output };
}

/** A person, or the bridge for one, said no: the tool did not run. */
export function isDeniedAtDialog({ isError, text }: Pick<ToolOutcome, 'isError' | 'text'>): boolean {
  return isError && DENIED_AT_DIALOG.test(text);
}

/** What a session reports of a tool call that has ended, of any tool. */
export interface ToolEnd {
  readonly ok: boolean;
  readonly command?: CommandEnd;
  readonly error?: string;
}

export function toolEnd(tool: string, outcome: Omit<ToolOutcome, 'id'>): ToolEnd {
  const ok = !outcome.isError;
  if (tool !== 'Bash') return ok ? { ok } : { ok, error: outcome.text };
  const ended = commandOutcome(outcome);
  if (!ended.ran) return { ok, error: ended.why };
  const { ran: _ran, ...command } = ended;
  return { ok, command };
}
