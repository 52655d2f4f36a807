import { processSource } from './process-source.js';

/** What runs on this machine, as far as it may be seen: the marks that processes carry, and all command lines. */
export interface RunningMarks {
  readonly marks: ReadonlySet<string>;
  /** Command lines in one text: a keeper has its task's id in its own. */
  readonly commands: string;
}

/** Rejects when the system does not list its processes. */
export async function runningMarks(): Promise<RunningMarks> {
  const all = await processSource.markedTable();
  return {
    marks: new Set(all.flatMap(({ mark }) => mark ?? [])),
    commands: await processSource.commandLines(),
  };
}
