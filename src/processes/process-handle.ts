// Pure.
import type { AllowedPath } from '../projects/allowed-roots.js';
import type { OutputSink, OutputStream, TerminalSize } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';
import type { ProcessRecord } from './process-record.js';

export type ProcessMode = 'host' | 'docker';

/** What is to be started. The backend adds nothing to `env` but what it documents. */
export interface ProcessSpec {
  /** The bridge's own id of the process: unique, safe in file and container names. */
  readonly id: string;
  /** Program and arguments; never part of a shell's text. */
  readonly command: readonly [string, ...string[]];
  /** Host: a real path inside the allowed roots. Docker: a path in the container. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A real pseudo-terminal of this size; without it stdin, stdout and stderr are pipes. */
  readonly tty?: TerminalSize;
}

/** How and when a process ended. */
export interface ProcessExit extends ExitStatus {
  readonly outOfMemory: boolean;
  readonly endedAt: Date;
}

export interface ProcessStats {
  /** The system's pid, where there is one to name. */
  readonly systemPid?: number;
  /** User and system time of the process and its descendants, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory of the process and its descendants, in bytes. */
  readonly memoryBytes: number;
  readonly processCount: number;
  /** TCP ports on which the process or a descendant listens. */
  readonly listeningPorts: readonly number[];
}

/** A running or ended process of either backend; its methods throw BridgeError. One contract suite holds both to the same behaviour. */
export interface ProcessHandle {
  readonly spec: ProcessSpec;
  readonly status: 'running' | 'terminated';
  /** Ends after the last byte of output has been handed on; never rejects. */
  readonly exited: Promise<ProcessExit>;

  /** Hands bytes to the process in order. Ends when they are taken, or throws at once: INPUT_REFUSED, PROCESS_NOT_RUNNING. */
  write(bytes: Uint8Array): Promise<void>;
  /** End of input: closes the pipe. A terminal has no end to close: its end-of-input key is `ctrl-d`. */
  endInput(): Promise<void>;
  /** NO_TERMINAL for a process without one. */
  resize(size: TerminalSize): Promise<void>;
  /** Sends the signal (`SIGTERM`) to the process and every descendant. */
  signal(name: NodeJS.Signals): Promise<void>;
  /**
   * Ends the whole tree: `first`, then SIGTERM, then SIGKILL, each after a grace time, until nothing of it is left.
   * The answer is the end itself, and how many processes were still there after it (0 unless the system refused).
   */
  kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }>;
  stats(): Promise<ProcessStats>;
  /** Kills what is left and releases everything. */
  dispose(): Promise<void>;
}

/** A place where processes run: this machine, or the containers of a Docker engine. */
export interface ProcessBackend {
  /** Starts it; its output goes to `sink` from the first byte. Throws BridgeError; nothing is left behind then. */
  spawn(spec: ProcessSpec, sink: OutputSink): Promise<ProcessHandle>;
  /** Begins to end what is left of processes whose server or keeper is gone, where the backend alone can find that. */
  sweepSoon?(): void;
  /** Ends every process of this backend that is not to be kept. */
  dispose(): Promise<void>;
}

/** What a caller wants to have started. */
export interface SpawnRequest {
  readonly mode: ProcessMode;
  /** Program and arguments; a shell is there only when it was asked for. */
  readonly command: readonly [string, ...string[]];
  /** The same as a person reads it. */
  readonly commandLine: string;
  /** Host: a real path inside the allowed roots. Docker: a path in the container. */
  readonly cwd: string;
  /** Over what the bridge passes on. */
  readonly env: Readonly<Record<string, string>>;
  readonly tty?: TerminalSize;
  /** It goes on without the server, under a keeper. */
  readonly keep: boolean;
  /** For a container alone, as in DockerSpec. */
  readonly image?: string;
  readonly network?: string;
  readonly volume?: string;
  readonly mountProject?: AllowedPath;
}

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
  signal(name: NodeJS.Signals): Promise<void>;
  kill(first: NodeJS.Signals): Promise<{ readonly exit: ProcessExit; readonly left: number }>;
  stats(): Promise<ProcessStats>;
  /** How much it has printed so far, all of it readable in its files by now. */
  printed(): Promise<OutputBytes>;
  /** Ends when it prints something beyond `printedBytes` of all streams, when it ends, or after `limitMs`. */
  untilPrints(printedBytes: number, limitMs: number): Promise<void>;
  /** NO_TERMINAL for a process without one. */
  screen(): Promise<ScreenText>;
}

/** Bytes that a process printed, by stream. */
export type OutputBytes = Readonly<Partial<Record<OutputStream, number>>>;

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
}
