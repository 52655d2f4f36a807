// Pure: a receipt as a person reads it in a terminal.
import { headAndTail, oneLine, quotedLines } from '../base/text.js';
import type { CommandRun, Receipt } from '../tasks/receipt/receipt.js';

type EndedCommand = Pick<CommandRun, 'command' | 'exit_code' | 'note'>;

const MAX_MESSAGE_CHARS = 8_000;
const MAX_ITEMS = 20;
const MAX_LINE_CHARS = 300;

/** What the task did. What an agent wrote is quoted or on one line, so that it cannot drive the terminal. */
export function receiptLines(receipt: Receipt): string[] {
  const { git, commands, commands_total, commands_failed: failed, denials, final_message } = receipt;
  const message = quotedLines(headAndTail(final_message, MAX_MESSAGE_CHARS));
  const counted = failed === 0 ? `${commands_total}` : `${commands_total}, ${failed} failed`;
  const commits = git.state === 'repository' ? git.commits : [];
  const subjects = commits.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`);
  const denied = denials.map(
    ({ summary, by, reason }) => `${summary} (by ${by}${reason === '' ? '' : `: ${reason}`})`,
  );
  return [
    ...(final_message === '' ? [] : ['', 'final message:', message]),
    ...list(`commands: ${counted}`, commands.map(commandText), commands_total),
    ...changedFiles(receipt),
    ...list('commits:', subjects),
    ...list('denied:', denied),
    ...list('notes:', receipt.notes),
  ];
}

/** What git saw; outside a repository the files that Claude Code said it wrote. */
export function changedFiles({ git, files, files_total }: Receipt): string[] {
  if (git.state !== 'repository') {
    const written = files.map(({ path, change }) => `${path} (${change})`);
    return list('files:', written, files_total);
  }
  const texts = git.files.map(({ path, change, insertions, deletions }) => {
    const lines = insertions === undefined ? '' : ` +${insertions} -${deletions ?? 0}`;
    return `${path} (${change}${lines})`;
  });
  return list('files:', texts, git.files_total);
}

/** A command, and how it ended. */
export function commandText({ command, exit_code, note }: EndedCommand): string {
  const end = exit_code === null ? (note ?? 'no exit code') : `exit code ${exit_code}`;
  return `${oneLine(command, MAX_LINE_CHARS)} (${end})`;
}

/** Nothing for an empty list; of a long one the last items, which are the newest. */
function list(title: string, items: readonly string[], total = items.length): string[] {
  if (items.length === 0) return [];
  const shown = items.slice(-MAX_ITEMS);
  const left = total - shown.length;
  return [
    '',
    title,
    ...(left > 0 ? [`  … ${left} more …`] : []),
    ...shown.map((item) => `  ${oneLine(item, MAX_LINE_CHARS)}`),
  ];
}
