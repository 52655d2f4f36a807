// Pure.
import type { OutputSink } from '../pty/child.js';
import type { ProcessHandle, ProcessMode, ProcessSpec } from './process-handle.js';

/** A place where processes run: this machine, or the containers of a Docker engine. */
export interface ProcessBackend<Spec extends ProcessSpec = ProcessSpec> {
  readonly mode: ProcessMode;
  /** Starts it; its output goes to `sink` from the first byte. Throws BridgeError; nothing is left behind then. */
  spawn(spec: Spec, sink: OutputSink): Promise<ProcessHandle>;
  /** Begins to end what is left of processes whose server or keeper is gone, where the backend alone can find that. */
  sweepSoon?(): void;
  /** Ends every process of this backend that is not to be kept. */
  dispose(): Promise<void>;
}
