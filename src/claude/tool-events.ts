// Pure: what a session reports of one call of a tool, from whatever told of it.
import { z } from 'zod';
import { commandOf } from '../approvals/tool-table.js';
import { toolEnd } from './command-outcome.js';
import type { SessionEvent } from './session.js';
import { filesWritten, toolSummary } from './tool-summary.js';
import type { ToolOutcome } from './transcript-entry.js';

type Of<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

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
  return {
    type: 'tool-finished',
    id,
    tool,
    summary: toolSummary(tool, input, project),
    line: commandOf(tool, input),
    ...toolEnd(tool, outcome),
    filesChanged: outcome.isError ? [] : filesWritten(tool, input, cwd),
    ...(isNew(outcome.details) && { isNew: true }),
    ...(tool === 'ScheduleWakeup' && wakeUpOf(input, outcome.details)),
  };
}

/** 2.1.330 and 2.1.332. */
function wakeUpOf(input: ToolUsed['input'], details: unknown): Pick<Of<'tool-finished'>, 'wakeUp'> {
  const { data } = z
    .object({ scheduledFor: z.number(), prompt: z.string() })
    .safeParse({ ...z.looseObject({}).safeParse(details).data, prompt: input['prompt'] });
  return data === undefined ? {} : { wakeUp: { atMs: data.scheduledFor, prompt: data.prompt } };
}

/** Whether the tool says that the file was not there before. */
function isNew(details: unknown): boolean {
  const write = writeSchema.safeParse(details).data;
  return write?.type === 'create' || write?.originalFile === null;
}
