// Pure: how a command of the agent ended, from what the CLI recorded.
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { countOf, headAndTail } from '../base/text/text.js';
import type { ToolOutcome } from './transcript-entry.js';

/** How a command that ran has ended. */
export interface CommandEnd {
  /** null if unknown: the command runs in the background, was interrupted, or has only a description. */
  readonly exitCode: number | null;
  /** Why there is no exit code. */
  readonly note?: string;
  /** Its standard output, then its standard error. */
  readonly output: string;
  /** In words, what of the output the CLI kept; left out when that is all. */
  readonly kept?: string;
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
/** The note of a command that was running when the session ended, or was ended. */
export const ENDED_WITH_SESSION = 'it was ended with the session';

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
  /** In bytes; only of an output that the CLI cut. */
  persistedOutputSize: z.number().optional().catch(undefined),
  /** 2.1.330: the middle was left out. */
  stdoutHoldsOutputEnd: z.boolean().optional().catch(undefined),
});
/** The model reads this when the dialog of a tool was denied, in both pinned versions. */
const DENIED_AT_DIALOG = /^The user doesn't want to (proceed|take this action)\b/;
/** Both of a refusal at the dialog and of an interrupt, in both pinned versions. */
const STOPPED = /^The user doesn't want to proceed with this tool use\./;
/** What 2.1.330 adds for an interrupt in print mode. */
const STOPPED_RUNNING = /\bthis call was stopped while running\b/;
/** The start of the text of a failed command, in both pinned versions. */
const EXIT_CODE = /^(?:Error: )?Exit code (\d+)\n?/;

/** The CLI keeps so much of an output: its beginning. */
const MAX_KEPT_CHARS = 30_000;
/** In the middle of the text of a failed command, of which the CLI tells less still. */
const CHARS_LEFT_OUT = /\n\.\.\. \[(\d+) characters truncated\] \.\.\.\n/;

export function commandOutcome(outcome: Omit<ToolOutcome, 'id'>): CommandOutcome {
  const { isError, text, details } = outcome;
  if (isError) return errorOutcome(outcome);
  const bash = bashSchema.safeParse(details).data;
  if (bash === undefined) return { ran: true, exitCode: 0, output: text };
  const whole = bash.stderr === '' ? bash.stdout : `${bash.stdout}\n${bash.stderr}`;
  const bytes = bash.persistedOutputSize ?? 0;
  const isCut = bytes > Buffer.byteLength(bash.stdout);
  const kept =
    bash.stdoutHoldsOutputEnd === true
      ? `Claude Code left out the middle of ${countOf(bytes)} bytes`
      : keptWords(bash.stdout.length, bytes);
  const output = { output: whole, ...(isCut && { kept }) };
  if (bash.backgroundTaskId !== undefined)
    return { ran: true, exitCode: null, note: IN_BACKGROUND, ...output };
  if (bash.interrupted) return { ran: true, exitCode: null, note: 'interrupted', ...output };
  const words = bash.returnCodeInterpretation ?? '';
  if (words !== '') return { ran: true, exitCode: null, note: words, ...output };
  return { ran: true, exitCode: 0, ...output };
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
  const output = text.slice(match[0].length);
  const leftOut = CHARS_LEFT_OUT.exec(output);
  const isCut = leftOut !== null && output.length + Number(leftOut[1]) >= MAX_KEPT_CHARS;
  return { ran: true, exitCode, output, ...(isCut && { kept: keptWords(MAX_KEPT_CHARS) }) };
}

function keptWords(chars: number, bytes?: number): string {
  const whole = bytes === undefined ? '' : ` of ${countOf(bytes)} bytes`;
  return `Claude Code kept the first ${countOf(chars)} characters${whole}, the end is missing`;
}

/** The beginning and the end of what a command printed, for reading, and what of it the CLI kept. */
export function printedText({ output, kept }: Pick<CommandEnd, 'output' | 'kept'>, maxChars: number): string {
  const text = headAndTail(stripVTControlCharacters(output).trimEnd(), maxChars);
  return kept === undefined ? text : `${text}\n… ${kept} …`;
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
