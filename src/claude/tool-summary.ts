// Pure: summarizes a tool call on one line, and lists the files it wrote.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { commandOf, pathsOf, subjectOf, toolRow } from '../approvals/tool-table.js';
import { countedLine } from '../base/text/text.js';
import type { Question } from './session.js';
import { z } from 'zod';

const SUMMARY_CHARS = 200;
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

/** The absolute paths of the files that a tool call writes by its input. */
export function filesWritten(tool: string, input: Readonly<Record<string, unknown>>, cwd: string): string[] {
  return toolRow(tool)?.effect === 'edits' ? pathsOf(tool, input).map((path) => resolve(cwd, path)) : [];
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
  const parsed = questionsSchema.safeParse(input['questions']);
  return parsed.success ? parsed.data : undefined;
}
