// Pure.
import { escapedUnsafe, oneLine, shownCharacters } from '../../../../src/base/text.js';

/** Of a longer selection only its lines are named. */
const MAX_SELECTION_CHARS = 8_000;
const MAX_PROBLEMS = 30;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_FILES = 50;

/** Lines count from 1; both are part of the range. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** A diagnostic of the editor. */
export interface Problem {
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly message: string;
  /** Who found it, such as `ts`; empty when that is not known. */
  readonly source: string;
  /** Empty when it has none. */
  readonly code: string;
  readonly lines: LineRange;
}

/** What a task is about. */
export interface TaskTopic {
  /** Relative to the folder of the task; a folder ends with a slash. */
  readonly files: readonly string[];
  readonly lines?: LineRange | undefined;
  readonly selection?: { readonly text: string; readonly language: string } | undefined;
  readonly problems: readonly Problem[];
}

export const noTopic: TaskTopic = { files: [], problems: [] };

/** The prompt: what the person wants, and what it is about. */
export function promptOf(words: string, topic: TaskTopic): string {
  return [words.trim(), aboutOf(topic), selectionOf(topic), problemsOf(topic)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What the task is about, on one line for the person. */
export function topicLine({ files, lines }: TaskTopic): string {
  const [first] = files;
  if (first === undefined) return '';
  return files.length > 1
    ? `${files.length} files`
    : `${oneLine(shownCharacters(first), 80)}${rangeOf(lines)}`;
}

/** A first draft of what to do about problems. */
export function requestOf(problems: readonly Problem[]): string {
  const [first] = problems;
  if (first === undefined) return '';
  return problems.length === 1
    ? `Fix this problem: ${oneLine(shownCharacters(first.message), 200)}`
    : `Fix these ${problems.length} problems.`;
}

function aboutOf({ files, lines }: TaskTopic): string {
  const named = files.slice(0, MAX_FILES).map(escapedUnsafe);
  const [first] = named;
  if (first === undefined) return '';
  if (files.length === 1) return `${first.endsWith('/') ? 'Folder' : 'File'}: ${first}${rangeOf(lines)}`;
  const rest = files.length - named.length;
  return `Files:\n${named.map((file) => `- ${file}`).join('\n')}${rest > 0 ? `\n- and ${rest} more` : ''}`;
}

function rangeOf(lines: LineRange | undefined): string {
  if (lines === undefined) return '';
  return lines.first === lines.last ? `, line ${lines.first}` : `, lines ${lines.first} to ${lines.last}`;
}

function selectionOf({ selection }: TaskTopic): string {
  if (selection === undefined || selection.text.trim() === '') return '';
  const { text, language } = selection;
  if (text.length > MAX_SELECTION_CHARS)
    return 'These lines are selected in the editor; they are too long to stand here.';
  const fence = fenceFor(text);
  return `Selected in the editor:\n\n${fence}${/^[\w+#.-]*$/.test(language) ? language : ''}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** Longer than any fence in the text. */
function fenceFor(text: string): string {
  const runs = text.match(/`{3,}/g) ?? [];
  return '`'.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
}

function problemsOf({ problems }: TaskTopic): string {
  if (problems.length === 0) return '';
  const shown = problems.slice(0, MAX_PROBLEMS).map(problemLine);
  const rest = problems.length - shown.length;
  return [
    'Problems that the editor shows there:',
    ...shown,
    ...(rest > 0 ? [`- and ${rest} more`] : []),
  ].join('\n');
}

function problemLine({ severity, message, source, code, lines }: Problem): string {
  const from = [source, code].filter((word) => word !== '').join(' ');
  const found = from === '' ? '' : ` (${oneLine(from, 100)})`;
  return `- ${severity}${rangeOf(lines)}: ${oneLine(message, MAX_MESSAGE_CHARS)}${found}`;
}
