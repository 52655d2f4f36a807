// Pure: as much of a receipt as an answer may hold.
import { headBytes } from '../../base/text/text.js';
import { printedText, shorter } from '../../claude/command-outcome.js';
import type { CommandRun, Receipt } from './receipt.js';

/** How much of each list is shown at first; halved until all fits. */
const MOST_ITEMS = 100;
const MESSAGE_BYTES = 6_000;
const SMALLEST_MESSAGE_BYTES = 1_000;
/** What a command printed that failed, and one that did not. */
const FAILED_OUTPUT_CHARS = 600;
const OUTPUT_CHARS = 200;

export interface ReceiptView {
  readonly receipt: Omit<Receipt, 'version' | 'task_id' | 'status'>;
  /** How many items of each list are left out; bytes for the final message. */
  readonly left_out: Readonly<Record<string, number>>;
}

/** The receipt within `maxBytes` of JSON: whole, or with its lists cut. What was done last, and what went wrong, stays longest. */
export function receiptView(receipt: Receipt, maxBytes: number): ReceiptView {
  let messageBytes = MESSAGE_BYTES;
  for (let items = MOST_ITEMS; ; items = Math.floor(items / 2)) {
    const view = cut(receipt, items, messageBytes);
    if (items === 0 || Buffer.byteLength(JSON.stringify(view)) <= maxBytes) return view;
    messageBytes = Math.max(SMALLEST_MESSAGE_BYTES, Math.floor(messageBytes / 2));
  }
}

function cut(receipt: Receipt, items: number, messageBytes: number): ReceiptView {
  const { version: _version, task_id: _id, status: _status, ...all } = receipt;
  const left: Record<string, number> = {};
  const some = <T>(name: string, list: readonly T[], total = list.length): T[] => {
    const kept = name === 'commands' ? list.slice(Math.max(0, list.length - items)) : list.slice(0, items);
    if (kept.length < total) left[name] = total - kept.length;
    return kept;
  };
  // What a rule allowed is the least news.
  const news = all.decisions.filter((one) => !(one.answered_by === 'rule' && one.verdict === 'allow'));
  const routine = all.decisions.filter((one) => !news.includes(one));
  const final_message = headBytes(all.final_message, messageBytes);
  if (final_message !== all.final_message)
    left['final_message_bytes'] = Buffer.byteLength(all.final_message) - Buffer.byteLength(final_message);
  const { git } = all;
  return {
    receipt: {
      ...all,
      final_message,
      commands: some('commands', all.commands, all.commands_total).map(withLittleOutput),
      files: some('files', all.files, all.files_total),
      sensitive_files: some('sensitive_files', all.sensitive_files),
      decisions: some('decisions', [...news, ...routine]),
      denials: some('denials', all.denials, all.denials_total),
      git:
        git.state !== 'repository'
          ? git
          : {
              ...git,
              commits: some('commits', git.commits, git.commits_total),
              files: some('git_files', git.files, git.files_total),
              ignored: some('ignored', git.ignored),
              dirty_before: {
                count: git.dirty_before.count,
                untouched: some('untouched', git.dirty_before.untouched),
                changed: some('changed_further', git.dirty_before.changed),
                committed: some('committed', git.dirty_before.committed),
              },
            },
    },
    left_out: left,
  };
}

function withLittleOutput({ output, left_out, kept, ...run }: CommandRun): CommandRun {
  if (output === undefined) return run;
  const chars = run.exit_code === 0 ? OUTPUT_CHARS : FAILED_OUTPUT_CHARS;
  return { ...run, output: printedText(shorter({ output, left_out, kept }, chars)) };
}
