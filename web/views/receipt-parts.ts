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

/** What `receiptFacts` calls the files that a person reviews first. */
export const LOOK = 'Look at these files';

/** Sums, commands, and lists: files that a person reviews first, if any, then files, commits, decisions and notes; no list is empty. */
export function receiptFacts(receipt: ReceiptFacts) {
  const git = isFields(receipt['git']) ? receipt['git'] : {};
  const isInGit = git['state'] === 'repository';
  const files = isInGit ? git : receipt;
  const commands = listOf(receipt, 'commands').map(commandOf);
  const failed = commands.filter(({ isOk }) => isOk === false).length;
  // What a rule allowed is routine.
  const decisions = listOf(receipt, 'decisions').filter(
    (one) => one['answered_by'] !== 'rule' || one['verdict'] !== 'allow',
  );
  const notes = [receipt['notes'], git['notes']].flatMap((some): unknown[] =>
    Array.isArray(some) ? some : [],
  );
  const commits = listOf(git, 'commits').map(
    (one) => `${textIn(one, 'commit').slice(0, 8)} ${textIn(one, 'subject')}`,
  );
  const sensitive = listOf(receipt, 'sensitive_files').map(
    (one) => `${textIn(one, 'path')}: ${textIn(one, 'why')}`,
  );
  const lists = {
    [LOOK]: sensitive.map(row),
    [isInGit ? 'Files, by git' : 'Files, by its tools']: withRest(
      listOf(files, 'files').map(fileRow),
      files['files_total'],
    ),
    Commits: withRest(commits.map(row), git['commits_total']),
    Decisions: decisions.map((one) => row(decisionWords(one))),
    Notes: notes.map((note) => row(String(note))),
  };
  return {
    sums: [
      sum(Number(files['files_total'] ?? 0), 'file changed', 'files changed'),
      ...(isInGit ? [sum(Number(git['commits_total'] ?? 0), 'commit', 'commits')] : []),
      sum(Number(receipt['commands_total'] ?? commands.length), 'command', 'commands'),
      ...(failed > 0 ? [sum(failed, 'command failed', 'commands failed')] : []),
      sum(decisions.length, 'decision', 'decisions'),
    ],
    commands,
    lists: Object.entries(lists).filter(([, rows]) => rows.length > 0),
  };
}

function sum(number: number, one: string, many: string): readonly [number, string] {
  return [number, number === 1 ? one : many];
}

const row = (words: string): ReceiptRow => ({ words });

/** `total`: how many there are, where not all are in the receipt. */
function withRest(rows: readonly ReceiptRow[], total: unknown): readonly ReceiptRow[] {
  const left = typeof total === 'number' ? total - rows.length : 0;
  return left > 0 && rows.length > 0 ? [...rows, row(`and ${left} more`)] : rows;
}

function fileRow(file: Fields): ReceiptRow {
  const { insertions: added, deletions: removed } = file;
  const words = `${textIn(file, 'change')} ${textIn(file, 'path')}`;
  return typeof added === 'number' ? { words, added, removed: Number(removed ?? 0) } : { words };
}

function commandOf(run: Fields): CheckedCommand {
  const code = run['exit_code'];
  const command = textIn(run, 'command');
  if (typeof code !== 'number') return { command, how: textIn(run, 'note'), isOk: undefined };
  return { command, how: `exit code ${code}`, isOk: code === 0 };
}

function decisionWords(decision: Fields): string {
  const [verdict, by, summary, reason] = ['verdict', 'answered_by', 'summary', 'reason'].map((name) =>
    textIn(decision, name),
  );
  return `${verdictWords[verdict ?? ''] ?? verdict} by ${by}: ${summary}${reason === '' ? '' : `: ${reason}`}`;
}

function listOf(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}
