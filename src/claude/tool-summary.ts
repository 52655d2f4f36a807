// Pure: summarizes a tool call on one line, and lists the files it wrote.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { countedLine } from '../base/text/text.js';
import type { Question } from './session.js';
import { z } from 'zod';

const SUMMARY_CHARS = 200;
/** The field of each tool's input that describes the call best. */
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
const pathFields = new Set(['file_path', 'notebook_path']);
const writingTools = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);

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
  const { dangerouslyDisableSandbox: leaves = false, command } = input;
  if (tool === 'Bash' && leaves !== false && typeof command === 'string') {
    return countedLine(`Bash, outside of the sandbox(${command})`, SUMMARY_CHARS);
  }
  for (const field of Object.hasOwn(subjectFields, tool) ? (subjectFields[tool] ?? []) : []) {
    const value = input[field];
    if (typeof value !== 'string') continue;
    const subject = pathFields.has(field) ? shownPath(value, project) : value;
    return countedLine(`${tool}(${subject})`, SUMMARY_CHARS);
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

/** The questions in the input of AskUserQuestion, or undefined if there are none. */
export function parseQuestions(input: Readonly<Record<string, unknown>>): Question[] | undefined {
  const parsed = questionsSchema.safeParse(input['questions']);
  return parsed.success ? parsed.data : undefined;
}
