// Pure: what of a receipt a person wants to know first.
import type { ReceiptFacts } from '../../src/board/state.js';

export interface ReceiptPart {
  readonly title: string;
  readonly lines: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Files, commits, commands, and what somebody decided; parts without lines are left out. */
export function receiptParts(receipt: ReceiptFacts): ReceiptPart[] {
  const git = fieldsOf(receipt['git']);
  const isInGit = git['state'] === 'repository';
  const files = isInGit ? git : receipt;
  const parts = [
    part(
      'Look at these files',
      listOf(receipt, 'sensitive_files').map((one) => `${text(one, 'path')}: ${text(one, 'why')}`),
    ),
    part(
      `Changed files${isInGit ? ', by git' : ''}`,
      listOf(files, 'files').map(fileLine),
      files['files_total'],
    ),
    part(
      'Commits',
      listOf(git, 'commits').map((one) => `${text(one, 'commit').slice(0, 8)} ${text(one, 'subject')}`),
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
  return `${text(file, 'change')} ${text(file, 'path')}${how}`;
}

function commandLine(run: Fields): string {
  const code = run['exit_code'];
  if (typeof code !== 'number') return `– ${text(run, 'command')}: ${text(run, 'note')}`;
  return `${code === 0 ? '✓' : '✗'} ${text(run, 'command')}: exit code ${code}`;
}

/** What a rule allowed is routine. */
function isNews(decision: Fields): boolean {
  return decision['answered_by'] !== 'rule' || decision['verdict'] !== 'allow';
}

function decisionLine(decision: Fields): string {
  const reason = text(decision, 'reason');
  const why = reason === '' ? '' : `: ${reason}`;
  return `${verdicts[text(decision, 'verdict')] ?? text(decision, 'verdict')} by ${text(decision, 'answered_by')}: ${text(decision, 'summary')}${why}`;
}

const verdicts: Readonly<Record<string, string>> = {
  allow: 'allowed',
  allow_session: 'allowed for the session',
  deny: 'denied',
};

function listOf(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function stringsOf(fields: Fields, name: string): string[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map(String) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}
