// Pure: a process as its starter has it, on this machine or in a container.
import { constants } from 'node:os';
import { z } from 'zod';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Child, OutputSink, OutputStream, TerminalSize } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { sizeSchema, type ProcessRecord } from './process-record.js';

export type ProcessMode = ProcessRecord['mode'];

/** What is to be started, as a keeper reads it too. The backend adds nothing to `env` but what it documents. */
export const processSpecSchema = z.object({
  /** The bridge's own id of the process: unique, safe in file and container names. */
  id: z.string(),
  /** Program and arguments; never part of a shell's text. */
  command: z.tuple([z.string()], z.string()).readonly(),
  /** Host: a real path inside the allowed roots. Docker: a path in the container. */
  cwd: z.string(),
  env: z.record(z.string(), z.string()).readonly(),
  /** A real pseudo-terminal of this size; without it stdin, stdout and stderr are pipes. */
  tty: sizeSchema.exactOptional(),
  /** For a container alone, like the next three. */
  image: z.string().exactOptional(),
  /** A network of the engine, such as `bridge`; without it there is none but the container's own loopback. */
  network: z.string().exactOptional(),
  /** Name of a volume to go on with; without it the container gets a new one. */
  volume: z.string().exactOptional(),
  /** A folder in the allowed roots that the container sees, read only. */
  mountProject: z.string().exactOptional(),
});
export type ProcessSpec = Readonly<z.infer<typeof processSpecSchema>>;

/** What a caller wants to have started; `env` is over what the bridge passes on. */
export interface SpawnRequest extends Omit<ProcessSpec, 'id'> {
  readonly mode: ProcessMode;
  /** The command as a person reads it. */
  readonly commandLine: string;
  /** It goes on without the server, under a keeper. */
  readonly keep: boolean;
}

export interface ProcessStats {
  /** User and system time of the process and its descendants, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory of the process and its descendants, in bytes. */
  readonly memoryBytes: number;
  readonly processCount: number;
  /** TCP ports on which the process or a descendant listens, where that is known. */
  readonly listeningPorts?: readonly number[];
}

/** A pipe takes bytes at once, or fails when nothing reads it; what it has not taken by then stays queued. */
const WRITE_LIMIT_MS = 100;

/** A process of either backend: one contract suite holds both to the same behaviour. After its end all that is done with it throws PROCESS_NOT_RUNNING. */
export abstract class ProcessHandle {
  readonly spec: ProcessSpec;
  /** Ends after the last byte of output has been handed on; never rejects. */
  readonly exited: Promise<ExitStatus>;
  status: 'running' | 'terminated' = 'running';
  protected readonly clock: Clock;
  readonly #child: Child;

  /** `ended` is the end of the child as it is reported. */
  protected constructor(spec: ProcessSpec, child: Child, clock: Clock, ended: Promise<ExitStatus>) {
    this.spec = spec;
    this.clock = clock;
    this.#child = child;
    this.exited = ended.then((status) => {
      this.status = 'terminated';
      return status;
    });
  }

  /** Sends the signal (`SIGTERM`) to the process and every descendant. */
  abstract signal(name: NodeJS.Signals): Promise<void>;
  /**
   * Ends the whole tree: `first`, then SIGTERM, then SIGKILL, each after a grace time, until nothing of it is left. The answer is how
   * many processes are still there (0 unless the system refused).
   */
  abstract kill(first: NodeJS.Signals): Promise<number>;
  abstract stats(): Promise<ProcessStats>;
  /** Kills what is left and releases everything. */
  abstract dispose(): Promise<void>;

  /** Hands bytes to the process in order. Ends when they are taken, or throws INPUT_REFUSED at once. */
  async write(bytes: Uint8Array): Promise<void> {
    this.mustRun();
    const result = this.#child.write(bytes);
    if (result === 'closed') throw inputClosed();
    if (result === 'full') {
      throw new BridgeError(
        'INPUT_REFUSED',
        'The process has left megabytes of its input unread, and no more is stored for it.',
        'Wait until it reads, or end it.',
      );
    }
    if ((await withinMs(this.clock, WRITE_LIMIT_MS, this.#child.flushed())) === false) throw inputClosed();
  }

  /** End of input: closes the pipe. A terminal has no end to close: its end-of-input key is `ctrl-d`. */
  async endInput(): Promise<void> {
    if (this.spec.tty !== undefined) {
      throw new BridgeError(
        'NO_TERMINAL',
        'The input of a terminal was to be closed, and a terminal has no end to close.',
        'Send the key ctrl-d, which means the end of input to most programs.',
      );
    }
    this.mustRun();
    if (!this.#child.endInput()) throw inputClosed();
  }

  /** NO_TERMINAL for a process without one. */
  async resize(size: TerminalSize): Promise<void> {
    if (this.spec.tty === undefined) throw noTerminal('It was to be resized');
    this.mustRun();
    await this.#child.resize(size);
  }

  /** Throws PROCESS_NOT_RUNNING. */
  protected mustRun(): void {
    if (this.status === 'terminated' || this.#child.isReaped) throw notRunning(this.spec.id);
  }
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

/** Bytes that a process printed, by stream. */
export type OutputBytes = Readonly<Partial<Record<OutputStream, number>>>;

export function totalOf({ stdout = 0, stderr = 0, terminal = 0 }: OutputBytes): number {
  return stdout + stderr + terminal;
}

/** What a process is given, in this order. */
export interface ProcessInput {
  /** NO_TERMINAL for a process without one, as for keys. */
  readonly size?: TerminalSize | undefined;
  readonly text?: string | undefined;
  /** By name. */
  readonly keys?: readonly string[] | undefined;
  /** The end of input. */
  readonly eof?: boolean | undefined;
}

/** A process with its record, here or in a keeper. Its output is read from its files. What is asked of it throws as in ProcessHandle. */
export interface RunningProcess extends Pick<ProcessHandle, 'signal' | 'kill' | 'stats'> {
  readonly record: ProcessRecord;
  /** Ends when it has ended and its output is on disk, with its last record; never rejects. */
  readonly ended: Promise<ProcessRecord>;
  /** Ends when `record.json` has the end, or never will. Until then only this knows it. */
  readonly recorded: Promise<void>;
  give(input: ProcessInput): Promise<void>;
  /** How much it has printed, once that is more than `beyond` in all its streams, it has ended, or `limitMs` is over; by default now. */
  printed(beyond?: number, limitMs?: number): Promise<OutputBytes>;
  /** What a terminal shows, one line a row, without blank ones at the end; NO_TERMINAL for a process without one. */
  screen(): Promise<TerminalSize & { readonly text: string }>;
}

/** What a keeper runs. It holds an environment, and is never written to disk. */
export interface KeptLaunch {
  readonly record: ProcessRecord;
  readonly spec: ProcessSpec;
  /** Called with the keeper before it gets what it runs: it runs nothing when this does not resolve. */
  readonly onKeeper?: ((keeper: ProcessIdentity) => Promise<void>) | undefined;
}

/** Runs processes that outlive the server: each has a keeper. */
export interface ProcessKeepers {
  /** Throws BridgeError when it cannot be started; nothing is left behind then. */
  keep(launch: KeptLaunch): Promise<RunningProcess>;
  /** Undefined when its keeper is gone. */
  reach(record: ProcessRecord): Promise<RunningProcess | undefined>;
}

/** Throws INVALID_ARGUMENTS for a signal that does not exist on this system. */
export function signalNamed(name: string): NodeJS.Signals {
  if (isSignal(name)) return name;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `There is no signal ${JSON.stringify(name)} on this system.`,
    'Use one such as SIGTERM, SIGINT, SIGKILL, SIGHUP, SIGUSR1, SIGSTOP or SIGCONT.',
  );
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

/** The error of a call to a process that has ended. */
export function notRunning(id?: string): BridgeError {
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    `The process${id === undefined ? '' : ` ${id}`} has ended.`,
    'Its output can still be read; start it again if need be.',
  );
}

/** PROCESS_UNREACHABLE: the process runs, as far as is known, and its keeper does not answer. `why` completes "cannot be reached: …". */
export function processUnreachable(
  id: string,
  why: string,
  hint = 'kill still ends it; ps shows its state.',
): BridgeError {
  return new BridgeError('PROCESS_UNREACHABLE', `The process ${id} cannot be reached: ${why}.`, hint);
}

/** NO_TERMINAL: `what` ("Its screen was asked for") needs one, and the process has pipes. */
export function noTerminal(what: string): BridgeError {
  return new BridgeError(
    'NO_TERMINAL',
    `${what}, and the process has no terminal.`,
    'Start it with tty to give it one; a process with pipes takes text.',
  );
}

function inputClosed(): BridgeError {
  return new BridgeError(
    'INPUT_REFUSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
  );
}
