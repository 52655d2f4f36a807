// Pure: how a command of the agent ended, from what the CLI recorded.
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { countOf, cutMiddle } from '../base/text.js';
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

/** The command goes on; its end is reported later. */
export const IN_BACKGROUND = 'runs in the background';

/** 2.1.330 adds this to what a command in the background has printed. */
const ADDED_END = /\n*\[(exited with code \d+|killed)\]\s*$/;

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
/** The start of the text of a failed command, in both pinned versions. */
const EXIT_CODE = /^(?:Error: )?Exit code (\d+)\n?/;

function commandEnd({ text, details }: Omit<ToolOutcome, 'id'>): CommandEnd {
  const bash = bashSchema.safeParse(details).data;
  if (bash === undefined) return { exitCode: 0, output: text };
  const whole = bash.stderr === '' ? bash.stdout : `${bash.stdout}\n${bash.stderr}`;
  const bytes = bash.persistedOutputSize ?? 0;
  const isCut = bytes > Buffer.byteLength(bash.stdout);
  const kept =
    bash.stdoutHoldsOutputEnd === true
      ? `Claude Code left out the middle of ${countOf(bytes)} bytes`
      : `Claude Code kept the first ${countOf(bash.stdout.length)} characters of ${countOf(bytes)} bytes, the end is missing`;
  const output = { output: whole, ...(isCut && { kept }) };
  if (bash.backgroundTaskId !== undefined) return { exitCode: null, note: IN_BACKGROUND, ...output };
  if (bash.interrupted) return { exitCode: null, note: 'interrupted', ...output };
  const words = bash.returnCodeInterpretation ?? '';
  if (words !== '') return { exitCode: null, note: words, ...output };
  return { exitCode: 0, ...output };
}

/** Undefined for a text that names no exit code: the command did not run. */
function failedEnd(text: string): CommandEnd | undefined {
  const match = EXIT_CODE.exec(text);
  const exitCode = Number(match?.[1] ?? 0);
  return match === null || exitCode === 0 ? undefined : { exitCode, output: text.slice(match[0].length) };
}

/** The beginning and the end of what a command printed, as journal and receipt have it. */
export const printedSchema = z.object({
  output: z.string().default(''),
  /** Characters that are missing in the middle of `output`. */
  left_out: z.int().optional(),
  /** In words, what of the output Claude Code kept. */
  kept: z.string().optional(),
});
export type Printed = z.infer<typeof printedSchema>;

export function printed({ output, kept }: Pick<CommandEnd, 'output' | 'kept'>, maxChars: number): Printed {
  return shorter(
    { output: stripVTControlCharacters(output).trimEnd(), ...(kept !== undefined && { kept }) },
    maxChars,
  );
}

export function shorter({ output, left_out = 0, kept }: Printed, maxChars: number): Printed {
  const { text, leftOut } = cutMiddle({ text: output, leftOut: left_out }, maxChars);
  return { output: text, ...(leftOut > 0 && { left_out: leftOut }), ...(kept !== undefined && { kept }) };
}

/** The same for reading. */
export function printedText({ output, kept }: Printed): string {
  return kept === undefined ? output : `${output}\n… ${kept} …`;
}

/** What a session reports of a tool call that has ended, of any tool. */
export interface ToolEnd {
  readonly ok: boolean;
  /** Only for a command that ran. */
  readonly command?: CommandEnd;
  /** The CLI's words for why the tool failed; not for a command that ran. */
  readonly error?: string;
  /** Who denied the call, which did not run. */
  readonly denied?: 'rule' | 'session';
}

export function toolEnd(tool: string, outcome: Omit<ToolOutcome, 'id'>): ToolEnd {
  const { isError, text, stopped, deniedBy } = outcome;
  const isCommand = tool === 'Bash';
  if (!isError) return isCommand ? { ok: true, command: commandEnd(outcome) } : { ok: true };
  if (deniedBy !== undefined) return { ok: false, error: deniedBy, denied: 'rule' };
  if (stopped === 'before') return { ok: false, error: text, denied: 'session' };
  if (isCommand && stopped !== undefined) {
    // Of two commands in one message, the second waits for the first: an interrupt reaches it before it began.
    const note = stopped === 'running' ? 'interrupted' : 'interrupted, perhaps before it began';
    return { ok: false, command: { exitCode: null, note, output: '' } };
  }
  const command = isCommand ? failedEnd(text) : undefined;
  return command === undefined ? { ok: false, error: text } : { ok: false, command };
}
