import type { ProcessHandle, ProcessMode, ProcessSpec } from './process-handle.js';

/**
 * Where a backend puts what the process prints. The bytes are valid until the returned promise ends, without one until the
 * call returns: who keeps them copies them.
 */
export interface OutputSink {
  /** `terminal` for a process with a pseudo-terminal, else one of the two. The producer waits for the promise, which never rejects: that is the flow control. */
  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined;
}

export type OutputStream = 'stdout' | 'stderr' | 'terminal';

/** A place where processes run: this machine, or the containers of a Docker engine. */
export interface ProcessBackend<Spec extends ProcessSpec = ProcessSpec> {
  readonly mode: ProcessMode;
  /** Starts it; its output goes to `sink` from the first byte. Throws BridgeError; nothing is left behind then. */
  spawn(spec: Spec, sink: OutputSink): Promise<ProcessHandle>;
  /** Begins to end what is left of processes whose server or keeper is gone, where the backend alone can find that. */
  sweepAgain?(): void;
  /** Ends every process of this backend that is not to be kept. */
  dispose(): Promise<void>;
}
