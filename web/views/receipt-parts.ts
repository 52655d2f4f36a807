// Pure: what of a receipt a person wants to know first.
import type { ReceiptFacts } from '../../src/board/state.js';
import { isFields, textIn, verdictWords, type Fields } from '../text/fields.js';

export interface ReceiptPart {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Files, commits, commands, and what somebody decided; parts without lines are left out. */
export function receiptParts(receipt: ReceiptFacts): ReceiptPart[] {
  const git = fieldsOf(receipt['git']);
  const isInGit = git['state'] === 'repository';
  const files = isInGit ? git : receipt;
  const parts = [
    part(
      'Look at these files',
      listOf(receipt, 'sensitive_files').map((one) => `${textIn(one, 'path')}: ${textIn(one, 'why')}`),
    ),
    part(
      `Changed files${isInGit ? ', by git' : ''}`,
      listOf(files, 'files').map(fileLine),
      files['files_total'],
    ),
    part(
      'Commits',
      listOf(git, 'commits').map((one) => `${textIn(one, 'commit').slice(0, 8)} ${textIn(one, 'subject')}`),
      git['commits_total'],
    ),
    part('Commands', listOf(receipt, 'commands').map(commandLine), receipt['commands_total']),
    part('Decisions', listOf(receipt, 'decisions').filter(isNews).map(decisionLine)),
    part('Notes', [...stringsOf(receipt, 'notes'), ...stringsOf(git, 'notes')]),
  ];
  return parts.filter(({ lines }) => lines.length > 0);
}

/** `total`: how many there are, where not all are in the receipt. */
function part(title: string, lines: readonly string[], total: unknown = lines.length): ReceiptPart {
  const left = typeof total === 'number' ? total - lines.length : 0;
  const count = lines.length + left;
  return {
    title: `${title} (${count})`,
    lines: left > 0 && lines.length > 0 ? [...lines, `and ${left} more`] : lines,
  };
}

function fileLine(file: Fields): string {
  const { insertions, deletions } = file;
  const how =
    typeof insertions === 'number' ? ` +${insertions} −${typeof deletions === 'number' ? deletions : 0}` : '';
  return `${textIn(file, 'change')} ${textIn(file, 'path')}${how}`;
}

function commandLine(run: Fields): string {
  const code = run['exit_code'];
  if (typeof code !== 'number') return `– ${textIn(run, 'command')}: ${textIn(run, 'note')}`;
  return `${code === 0 ? '✓' : '✗'} ${textIn(run, 'command')}: exit code ${code}`;
}

/** What a rule allowed is routine. */
function isNews(decision: Fields): boolean {
  return decision['answered_by'] !== 'rule' || decision['verdict'] !== 'allow';
}

function decisionLine(decision: Fields): string {
  const reason = textIn(decision, 'reason');
  const why = reason === '' ? '' : `: ${reason}`;
  return `${verdictWords[textIn(decision, 'verdict')] ?? textIn(decision, 'verdict')} by ${textIn(decision, 'answered_by')}: ${textIn(decision, 'summary')}${why}`;
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
