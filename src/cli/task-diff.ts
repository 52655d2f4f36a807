import { BridgeError } from '../base/errors.js';
import { shownCharacters } from '../base/text/unseen-characters.js';
import type { OpenTasks } from './open-tasks.js';
import type { TaskRecord } from '../tasks/task.js';

export interface DiffOutput {
  /** Resolves when more can be written: git waits for that. */
  write(data: string | Uint8Array): Promise<void>;
  /** Aborted when nothing more can be written. */
  readonly lost: AbortSignal;
  /** Words beside the patch. */
  say(line: string): void;
  /** On a terminal, control characters of a file are shown as escapes. */
  readonly isTerminal: boolean;
}

/** Prints what a task changed, as `git diff` does. Throws NOT_A_REPOSITORY where git saw nothing of it, and the errors of git. */
export async function printTaskDiff(
  { patches, gitReportOf }: Pick<OpenTasks, 'patches' | 'gitReportOf'>,
  record: TaskRecord,
  output: DiffOutput,
): Promise<void> {
  const print = async (query: Parameters<OpenTasks['patches']>[0]): Promise<void> => {
    const text = new TextDecoder();
    const take = (chunk: Uint8Array): Promise<void> =>
      output.write(output.isTerminal ? shownCharacters(text.decode(chunk, { stream: true })) : chunk);
    try {
      await patches(query, take, output.lost);
    } catch (error) {
      // git was ended since nothing takes its output: what that means is told at the end.
      if (!output.lost.aborted) throw error;
    }
  };
  const { worktree } = record;
  if (worktree?.finished !== undefined) {
    const { action, result } = worktree.finished;
    if (result === '') return output.say('The task changed nothing.');
    // A merge commit also has what others did: its second parent is the task's own end.
    const ends = action === 'merge' ? [`${result}^2`, result] : [result];
    return print({ repository: worktree.repository, base: worktree.base_commit, ends });
  }
  const report = await gitReportOf(record);
  if (report.state !== 'repository') {
    const message = `git saw nothing of what ${record.task_id} changed: ${report.why}`;
    throw new BridgeError(
      'NOT_A_REPOSITORY',
      message,
      'The receipt (tasks show) lists the files that it wrote.',
    );
  }
  const { files, files_total, dirty_before, repository, head_before, head_after, uncommitted } = report;
  if (files.length === 0) return output.say('The task changed nothing that git sees.');
  await print({
    repository,
    base: head_before,
    files: files.map(({ path }) => path),
    // What is committed does not change with the working tree.
    ...(uncommitted === 0 && head_after !== null && { ends: [head_after] }),
  });
  if (files_total > files.length) output.say(`${files_total - files.length} more files are not shown.`);
  if (dirty_before.changed.length > 0)
    output.say('Files that had uncommitted changes before the task are shown with these changes.');
}
