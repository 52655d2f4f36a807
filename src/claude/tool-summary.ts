// Pure: what a tool call is, on one line, and which files it wrote.
import { isAbsolute, resolve } from 'node:path';
import { oneLine } from '../base/text.js';
import type { Question } from './session.js';
import { z } from 'zod';

const SUMMARY_CHARS = 200;
/** The field of each tool's input that says what it is about. */
const subjectFields: Readonly<Record<string, readonly string[]>> = {
  Bash: ['command'],
  Read: ['file_path'],
  Write: ['file_path'],
  Edit: ['file_path'],
  MultiEdit: ['file_path'],
  NotebookEdit: ['notebook_path'],
  Glob: ['pattern'],
  Grep: ['pattern'],
  WebFetch: ['url'],
  WebSearch: ['query'],
  Task: ['description'],
  Agent: ['description'],
  ExitPlanMode: ['plan'],
};
const writingTools = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);

/** `Bash(npm test)`, `Write(src/a.ts)`, `mcp__x__y({"a":1})`. */
export function toolSummary(tool: string, input: Readonly<Record<string, unknown>>): string {
  const questions = parseQuestions(input);
  if (tool === 'AskUserQuestion' && questions !== undefined) {
    return oneLine(questions.map((question) => question.question).join(' / '), SUMMARY_CHARS);
  }
  for (const field of subjectFields[tool] ?? []) {
    const value = input[field];
    if (typeof value === 'string') return oneLine(`${tool}(${value})`, SUMMARY_CHARS);
  }
  const rest = Object.keys(input).length === 0 ? '' : JSON.stringify(input);
  return oneLine(`${tool}(${rest})`, SUMMARY_CHARS);
}

/** Absolute paths of the files that a tool call names as written; empty for tools that write none. */
export function filesWritten(tool: string, input: Readonly<Record<string, unknown>>, cwd: string): string[] {
  if (!writingTools.has(tool)) return [];
  const path = input['file_path'] ?? input['notebook_path'];
  if (typeof path !== 'string' || path === '') return [];
  return [isAbsolute(path) ? path : resolve(cwd, path)];
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

/** The questions of an AskUserQuestion input, or undefined when it holds none. */
export function parseQuestions(input: Readonly<Record<string, unknown>>): Question[] | undefined {
  const parsed = questionsSchema.safeParse(input['questions']);
  return parsed.success ? parsed.data : undefined;
}
