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
  | { readonly ran: false; readonly why: string }
  /** Refused, or stopped while it ran: the CLI has the same words for both. */
  | { readonly ran: 'unknown'; readonly why: string };

export const INTERRUPTED: CommandEnd = { exitCode: null, note: 'interrupted', output: '' };
/** Of two commands in one message, the second waits for the first: an interrupt reaches it before it began. */
export const PERHAPS_INTERRUPTED: CommandEnd = {
  exitCode: null,
  note: 'interrupted, perhaps before it began',
  output: '',
};

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
/** Both of a refusal at the dialog and of an interrupt, in both pinned versions. */
const STOPPED = /^The user doesn't want to proceed with this tool use\./;
/** What 2.1.330 adds for an interrupt in print mode. */
const STOPPED_RUNNING = /\bthis call was stopped while running\b/;
/** The start of the text of a failed command, in both pinned versions. */
const EXIT_CODE = /^(?:Error: )?Exit code (\d+)\n?/;

export function commandOutcome(outcome: Omit<ToolOutcome, 'id'>): CommandOutcome {
  const { isError, text, details } = outcome;
  if (isError) return errorOutcome(outcome);
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

function errorOutcome({ text, stopped }: Omit<ToolOutcome, 'id'>): CommandOutcome {
  if (stopped === 'before') return { ran: false, why: text };
  if (stopped === 'running') return { ran: true, ...INTERRUPTED };
  if (STOPPED.test(text))
    return STOPPED_RUNNING.test(text) ? { ran: true, ...INTERRUPTED } : { ran: 'unknown', why: text };
  const match = EXIT_CODE.exec(text);
  const exitCode = Number(match?.[1] ?? 0);
  // A command that exits with 0 has not failed: these are the words of whoever denied it.
  if (match === null || exitCode === 0) return { ran: false, why: text };
  return { ran: true, exitCode, output: text.slice(match[0].length) };
}

/** What a session reports of a tool call that has ended, of any tool. */
export interface ToolEnd {
  readonly ok: boolean;
  readonly command?: CommandEnd;
  readonly error?: string;
}

/** `stopped`: the end of a command that was refused or stopped, if it is known not to have been refused. */
export function toolEnd(tool: string, outcome: Omit<ToolOutcome, 'id'>, stopped?: CommandEnd): ToolEnd {
  const ok = !outcome.isError;
  if (tool !== 'Bash') return ok ? { ok } : { ok, error: outcome.text };
  const ended = commandOutcome(outcome);
  if (ended.ran === 'unknown' && stopped !== undefined) return { ok, command: stopped };
  if (ended.ran !== true) return { ok, error: ended.why };
  const { ran: _ran, ...command } = ended;
  return { ok, command };
}
