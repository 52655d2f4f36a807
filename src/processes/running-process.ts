// Pure.
import type { TerminalSize } from '../pty/child.js';
import type { OutputBytes } from './output/process-output.js';
import type { ProcessExit, ProcessSpec, ProcessStats } from './process-handle.js';
import type { ProcessRecord } from './process-record.js';

/** What a terminal shows. */
export interface ScreenText {
  /** One line a row, without blank ones at the end. */
  readonly text: string;
  /** From 0, column and row. */
  readonly cursor: { readonly column: number; readonly row: number };
  readonly size: TerminalSize;
}

/** A process that runs, here or in a keeper. Its methods throw BridgeError (PROCESS_NOT_RUNNING, INPUT_REFUSED, …). Its output is read from its files. */
export interface RunningProcess {
  readonly record: ProcessRecord;
  /** Ends when it has ended and its output is on disk, with its last record; never rejects. */
  readonly ended: Promise<ProcessRecord>;
  /** Ends when `record.json` has the end, or never will. Until then only this knows it. */
  readonly recorded: Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  endInput(): Promise<void>;
  /** Keys by name; NO_TERMINAL for a process without one. */
  press(keys: readonly string[]): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  signal(name: NodeJS.Signals, options: { readonly tree: boolean }): Promise<void>;
  kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }>;
  stats(): Promise<ProcessStats>;
  /** How much it has printed so far, all of it readable in its files by now. */
  printed(): Promise<OutputBytes>;
  /** Ends when it prints something beyond `printedBytes` of all streams, when it ends, or after `limitMs`. */
  untilPrints(printedBytes: number, limitMs: number): Promise<void>;
  /** NO_TERMINAL for a process without one. */
  screen(): Promise<ScreenText>;
}

export function totalOf({ stdout = 0, stderr = 0, terminal = 0 }: OutputBytes): number {
  return stdout + stderr + terminal;
}

/** What a keeper runs. It holds an environment, and is never written to disk. */
export interface KeptLaunch {
  readonly record: ProcessRecord;
  readonly spec: ProcessSpec;
}

/** Runs processes that outlive the server: each has a keeper. */
export interface ProcessKeepers {
  /** Throws BridgeError when it cannot be started; nothing is left behind then. */
  launch(launch: KeptLaunch): Promise<RunningProcess>;
  /** Undefined when its keeper is gone. */
  connect(record: ProcessRecord): Promise<RunningProcess | undefined>;
  /** Closes all connections; the processes go on. */
  dispose(): void;
}
