import { processSource } from './process-source.js';

/** The marks and command lines of all processes on this machine, as far as they are visible. */
export interface RunningMarks {
  readonly marks: ReadonlySet<string>;
  /** All command lines as one string: that of a keeper holds its task's id. */
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
