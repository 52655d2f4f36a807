import type { Readable } from 'node:stream';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { WireOutput } from './stdio-wire.js';

/** What of a process the protocol needs. */
export interface ProcessStdio {
  readonly input: Readable;
  readonly output: WireOutput;
  /** Calls `listener` when the process is asked to end. */
  onSignal(listener: (signal: NodeJS.Signals) => void): Disposable;
  exit(code: number): void;
}

/** Claude Code sends SIGINT, then SIGTERM; a terminal that closes sends SIGHUP. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Takes stdin, stdout and the signals of this process for the protocol. From then on stdout carries the protocol alone:
 * whatever else writes to `process.stdout` goes to stderr.
 */
export function claimProcessStdio(): ProcessStdio {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  Object.assign(stdout, { write: stderr.write.bind(stderr) });
  // Each failed write is reported to its writer; without a listener it would also end the process.
  stdout.on('error', () => undefined);
  return {
    input: stdin,
    output: {
      write: (text, done) => void write(text, done),
      get unreadBytes() {
        return stdout.writableLength;
      },
    },
    onSignal: (listener) => {
      for (const signal of END_SIGNALS) process.on(signal, listener);
      return toDisposable(() => {
        for (const signal of END_SIGNALS) process.off(signal, listener);
      });
    },
    exit: (code) => process.exit(code),
  };
}
