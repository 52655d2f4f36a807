import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import { RESET_TERMINAL } from '../../screen/reset-terminal.js';

const STDOUT_FD = 1;
/** Signals that end an attached terminal, with their numbers: 128 and the number is the exit code. */
const endings = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** The terminal of the person who runs this command. */
export interface UserTerminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
}

/** A terminal that does not know its size says 0. */
export function sizeOf({ output }: UserTerminal): { readonly columns: number; readonly rows: number } {
  return { columns: output.columns || 80, rows: output.rows || 24 };
}

/**
 * Takes the terminal in raw mode until it is disposed, whatever ends the process. `ended`: a signal came, or the terminal is gone: leave now.
 * Disposed, it is as it was, below what was shown.
 */
export function takeTerminal(
  terminal: UserTerminal,
  typed: (keys: Buffer) => void,
  resized: () => void,
  ended: (why: string, exitCode: number) => void,
): Disposable {
  const { input, output } = terminal;
  const releases: (() => void)[] = [];
  const on = (source: NodeJS.EventEmitter, name: string, act: (data: Buffer) => void): void => {
    source.on(name, act);
    releases.push(() => source.removeListener(name, act));
  };
  const taken = toDisposable(() => {
    for (const release of releases) release();
    try {
      writeSync(STDOUT_FD, `${RESET_TERMINAL}\x1b[${sizeOf(terminal).rows};1H\x1b[K\r\n`);
    } catch {
      // The terminal is gone or takes nothing now: there is nothing to restore, or no one to see it.
    }
    input.setRawMode(false);
    input.pause();
  });
  const gone = (): void => ended('The terminal is gone.', 128 + endings.SIGHUP);
  on(process, 'exit', () => taken.dispose());
  on(input, 'data', typed);
  on(input, 'end', gone);
  on(output, 'resize', resized);
  for (const [name, number] of Object.entries(endings))
    on(process, name, () => ended(`Ended by ${name}.`, 128 + number));
  // These stay: an error may come after the end.
  input.on('error', gone);
  output.on('error', gone);
  input.setRawMode(true);
  input.resume();
  return taken;
}
