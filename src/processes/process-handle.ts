// Pure.
import type { AllowedPath } from '../projects/allowed-roots.js';
import type { OutputSink, TerminalSize } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';

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
  /** Sends the signal (`SIGTERM`) to the process alone or, with `tree`, to it and every descendant. */
  signal(name: NodeJS.Signals, options?: { readonly tree?: boolean }): Promise<void>;
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
