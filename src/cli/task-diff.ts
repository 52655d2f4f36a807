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
  { patches, changes }: Pick<OpenTasks, 'patches' | 'changes'>,
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
  const patch = await changes.patchOf(record);
  if (patch.state === 'nothing') return output.say(patch.why);
  await print(patch.query);
  for (const note of patch.notes) output.say(note);
}
