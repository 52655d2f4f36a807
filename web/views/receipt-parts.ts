// Pure: what of a receipt a person wants to know first.
import type { ReceiptFacts } from '../../src/board/state.js';
import { isFields, textIn, verdictWords, type Fields } from '../text/fields.js';

export interface ReceiptRow {
  readonly words: string;
  /** Lines that came and went, of a file that git has seen. */
  readonly added?: number;
  readonly removed?: number;
}

export interface CheckedCommand {
  readonly command: string;
  readonly how: string;
  /** Undefined where its end is not known. */
  readonly isOk: boolean | undefined;
}

interface Facts {
  readonly sums: readonly { readonly number: string; readonly words: string }[];
  /** Files that a person reviews before anything else. */
  readonly look: readonly ReceiptRow[];
  readonly commands: readonly CheckedCommand[];
  readonly lists: readonly { readonly title: string; readonly rows: readonly ReceiptRow[] }[];
}

/** Sums, commands, and lists of files, commits, decisions and notes; lists without rows are left out. */
export function receiptFacts(receipt: ReceiptFacts): Facts {
  const git = fieldsOf(receipt['git']);
  const isInGit = git['state'] === 'repository';
  const ofFiles = isInGit ? git : receipt;
  const files = rowsOf(listOf(ofFiles, 'files').map(fileRow), ofFiles['files_total']);
  const commits = rowsOf(
    listOf(git, 'commits').map((one) => ({
      words: `${textIn(one, 'commit').slice(0, 8)} ${textIn(one, 'subject')}`,
    })),
    git['commits_total'],
  );
  const commands = listOf(receipt, 'commands').map(commandOf);
  const decisions = rowsOf(
    listOf(receipt, 'decisions')
      .filter(isNews)
      .map((one) => ({ words: decisionWords(one) })),
  );
  const notes = rowsOf(
    [...stringsOf(receipt, 'notes'), ...stringsOf(git, 'notes')].map((words) => ({ words })),
  );
  const failed = commands.filter(({ isOk }) => isOk === false).length;
  return {
    sums: [
      sumOf(files.count, 'file changed', 'files changed'),
      ...(isInGit ? [sumOf(commits.count, 'commit', 'commits')] : []),
      sumOf(countOf(receipt['commands_total'], commands.length), 'command', 'commands'),
      ...(failed > 0 ? [sumOf(failed, 'command failed', 'commands failed')] : []),
      sumOf(decisions.count, 'decision', 'decisions'),
    ],
    look: listOf(receipt, 'sensitive_files').map((one) => ({
      words: `${textIn(one, 'path')}: ${textIn(one, 'why')}`,
    })),
    commands,
    lists: [
      { title: isInGit ? 'Files, by git' : 'Files, by its tools', rows: files.rows },
      { title: 'Commits', rows: commits.rows },
      { title: 'Decisions', rows: decisions.rows },
      { title: 'Notes', rows: notes.rows },
    ].filter(({ rows }) => rows.length > 0),
  };
}

function sumOf(number: number, one: string, many: string): Facts['sums'][number] {
  return { number: String(number), words: number === 1 ? one : many };
}

/** `total`: how many there are, where not all are in the receipt. */
function rowsOf(
  rows: readonly ReceiptRow[],
  total?: unknown,
): { count: number; rows: readonly ReceiptRow[] } {
  const count = countOf(total, rows.length);
  const left = count - rows.length;
  return { count, rows: left > 0 && rows.length > 0 ? [...rows, { words: `and ${left} more` }] : rows };
}

function countOf(total: unknown, known: number): number {
  return typeof total === 'number' ? total : known;
}

function fileRow(file: Fields): ReceiptRow {
  const { insertions, deletions } = file;
  const words = `${textIn(file, 'change')} ${textIn(file, 'path')}`;
  if (typeof insertions !== 'number') return { words };
  return { words, added: insertions, removed: typeof deletions === 'number' ? deletions : 0 };
}

function commandOf(run: Fields): CheckedCommand {
  const code = run['exit_code'];
  const command = textIn(run, 'command');
  if (typeof code !== 'number') return { command, how: textIn(run, 'note'), isOk: undefined };
  return { command, how: `exit code ${code}`, isOk: code === 0 };
}

/** What a rule allowed is routine. */
function isNews(decision: Fields): boolean {
  return decision['answered_by'] !== 'rule' || decision['verdict'] !== 'allow';
}

function decisionWords(decision: Fields): string {
  const reason = textIn(decision, 'reason');
  const verdict = textIn(decision, 'verdict');
  const why = reason === '' ? '' : `: ${reason}`;
  return `${verdictWords[verdict] ?? verdict} by ${textIn(decision, 'answered_by')}: ${textIn(decision, 'summary')}${why}`;
}

function listOf(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function stringsOf(fields: Fields, name: string): string[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map(String) : [];
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
