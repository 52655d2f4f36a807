// Pure: what a session reports of one call of a tool, from whatever told of it.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { commandOf, pathsOf, subjectOf, toolRow } from '../approvals/tool-table.js';
import { countedLine } from '../base/text.js';
import { toolEnd, type CommandEnd } from './command-outcome.js';
import type { HookOf } from './hooks/hook-event.js';
import type { Question, SessionEvent } from './session.js';
import type { ToolOutcome } from './transcript-entry.js';

type Of<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

const SUMMARY_CHARS = 200;

/** A call of a tool, as the model made it or as it was allowed. */
export interface ToolUsed {
  /** Claude Code's id of the call. */
  readonly id: string | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const writeSchema = z.object({ type: z.string().optional(), originalFile: z.string().nullish() });

export function toolStarted({ id, tool, input }: ToolUsed, cwd: string): Of<'tool-started'> {
  return { type: 'tool-started', id, tool, summary: toolSummary(tool, input, cwd), input };
}

/** `cwd`: the working folder of the session, which relative paths begin at; `project`: which summaries leave out. */
export function toolFinished(
  { id, tool, input }: ToolUsed,
  outcome: Omit<ToolOutcome, 'id'>,
  project: string,
  cwd = project,
): Of<'tool-finished'> {
  const isWrite = toolRow(tool)?.effect === 'edits';
  const write = writeSchema.safeParse(outcome.details).data;
  return {
    type: 'tool-finished',
    id,
    tool,
    summary: toolSummary(tool, input, project),
    line: commandOf(tool, input),
    ...toolEnd(tool, outcome),
    filesChanged: isWrite && !outcome.isError ? pathsOf(tool, input).map((path) => resolve(cwd, path)) : [],
    // The tool says that the file was not there before.
    ...((write?.type === 'create' || write?.originalFile === null) && { isNew: true }),
    ...(tool === 'ScheduleWakeup' && wakeUpOf(input, outcome.details)),
  };
}

/** The end of a command that ran in the background, or that was cut off. */
export function commandEnded(
  { id = '', tool, input }: ToolUsed,
  end: CommandEnd,
  project: string,
): Of<'command-ended'> {
  const command = commandOf(tool, input) ?? '';
  return { type: 'command-ended', id, command, summary: toolSummary(tool, input, project), end };
}

export type EndedHook = HookOf<'PostToolUse' | 'PostToolUseFailure'>;

/** The call of a hook. */
export function callIn({ tool_use_id, tool_name, tool_input }: HookOf<'PreToolUse'> | EndedHook): ToolUsed {
  return { id: tool_use_id, tool: tool_name, input: tool_input };
}

/** How the call ended, as its hook tells it. */
export function outcomeOf(event: EndedHook): Omit<ToolOutcome, 'id'> {
  return event.hook_event_name === 'PostToolUse'
    ? { isError: false, text: '', details: event.tool_response }
    : { isError: true, text: event.error, details: undefined };
}

/** Whether a tool was used as it was asked; an answer at the terminal may have added fields to its input. */
export function isSameUse(asked: Pick<EndedHook, 'tool_name' | 'tool_input'>, ran: EndedHook): boolean {
  if (asked.tool_name !== ran.tool_name) return false;
  const fields = Object.entries(asked.tool_input);
  if (fields.length === 0) return Object.keys(ran.tool_input).length === 0;
  return fields.every(([field, value]) => isDeepStrictEqual(ran.tool_input[field], value));
}

/** 2.1.330 and 2.1.332. */
function wakeUpOf(input: ToolUsed['input'], details: unknown): Pick<Of<'tool-finished'>, 'wakeUp'> {
  const { data } = z
    .object({ scheduledFor: z.number(), prompt: z.string() })
    .safeParse({ ...z.looseObject({}).safeParse(details).data, prompt: input['prompt'] });
  return data === undefined ? {} : { wakeUp: { atMs: data.scheduledFor, prompt: data.prompt } };
}

/** `Bash(npm test)`, `Write(src/a.ts)`, `mcp__x__y({"a":1})`. Paths inside `project` are shown relative to it. */
export function toolSummary(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  project?: string,
): string {
  const questions = parseQuestions(input);
  if (tool === 'AskUserQuestion' && questions !== undefined) {
    return countedLine(questions.map((question) => question.question).join(' / '), SUMMARY_CHARS);
  }
  const { dangerouslyDisableSandbox: leaves = false } = input;
  const command = commandOf(tool, input);
  if (command !== undefined && leaves !== false)
    return countedLine(`${tool}, outside of the sandbox(${command})`, SUMMARY_CHARS);
  const subject = subjectOf(tool, input);
  if (subject !== undefined) {
    const isPath = pathsOf(tool, input)[0] === subject;
    return countedLine(`${tool}(${isPath ? shownPath(subject, project) : subject})`, SUMMARY_CHARS);
  }
  const rest = Object.keys(input).length === 0 ? '' : JSON.stringify(input);
  return countedLine(`${tool}(${rest})`, SUMMARY_CHARS);
}

/** Relative to the project; a path outside it, and the project's own, stay absolute. */
function shownPath(path: string, project: string | undefined): string {
  if (project === undefined || !isAbsolute(path)) return path;
  const inside = relative(project, path);
  return inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? path : inside;
}

const questionsSchema = z
  .array(
    z.object({
      question: z.string(),
      header: z.string().default(''),
      multiSelect: z.boolean().default(false),
      options: z.array(z.object({ label: z.string(), description: z.string().default('') })).default([]),
    }),
  )
  .min(1);

/** The questions in the input of AskUserQuestion, or undefined if there are none. */
export function parseQuestions(input: Readonly<Record<string, unknown>>): Question[] | undefined {
  return questionsSchema.safeParse(input['questions']).data;
}
