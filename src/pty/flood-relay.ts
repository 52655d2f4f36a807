import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { systemCodeOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';

/** What it hands on at once, and so what is lost when it is killed. */
export const RELAY_BYTES = 64 * 1024;
/** With so much it does not ask for more. */
const ENOUGH_BYTES = RELAY_BYTES - 4 * 1024;
/** Not one of the first three: Node would make the terminal block who reads it, here, too. */
const TERMINAL_FD = 3;
/** What a list of processes shows of it. */
const NAME = 'claude-code-bridge-terminal-reader';
/** It ends with the terminal, or when its own input has ended and nothing is left to read; whoever started it may be gone, too. */
const SCRIPT = `
$0 = '${NAME}';
$SIG{$_} = 'IGNORE' for qw(INT TERM HUP QUIT TSTP);
open my $terminal, '<&=', ${TERMINAL_FD} or exit 1;
my ($bytes, $length, $isOver) = ('', 0, 0);
until ($isOver) {
  my $read = sysread $terminal, $bytes, ${RELAY_BYTES} - $length, $length;
  if ($read) {
    $length += $read;
    next if $length < ${ENOUGH_BYTES};
  } elsif (defined $read || $! != ${constants.errno.EAGAIN}) {
    next if !defined $read && $! == ${constants.errno.EINTR};
    $isOver = 1;
  } elsif (!$length) {
    my $ready = '';
    vec($ready, $_, 1) = 1 for 0, ${TERMINAL_FD};
    next if select($ready, undef, undef, undef) < 0;
    $isOver = vec($ready, 0, 1) && !vec($ready, ${TERMINAL_FD}, 1);
  }
  for (my $from = 0; $from < $length;) {
    my $written = syswrite STDOUT, $bytes, $length - $from, $from;
    next if !defined $written && $! == ${constants.errno.EINTR};
    exit 2 unless $written;
    $from += $written;
  }
  $length = 0;
}
`;
/** Where every system that has it keeps it; nothing of the user's environment reaches it. */
const ENV = { PATH: '/usr/bin:/bin' };

/** `whole`: all that it read was handed on. `torn`: it was ended by somebody else, and with it up to RELAY_BYTES. `unable`: it never read. */
export type RelayEnd = 'whole' | 'torn' | 'unable';

export interface FloodRelayOptions {
  /** The terminal's controlling side, non-blocking. */
  readonly fd: number;
  /** Gets bytes, valid until it returns. */
  readonly take: (bytes: Buffer) => void;
  /** Told once, after the last byte; never within the call that starts it. */
  readonly ended: (end: RelayEnd) => void;
  readonly program?: string;
}

/**
 * A process that reads a terminal which floods. The kernel gives 4 KB of a terminal at a time, and each read sleeps until
 * the next 4 KB are made ready; what a reader does between two reads is time in which nothing is. Perl does next to nothing there, on
 * another core, and hands on 64 KB. While it lives nobody else may read the terminal.
 */
export class FloodRelay implements Disposable {
  /** Resolves when it is gone and reaped. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #output: Readable;
  #isDisposed = false;

  private constructor(child: ChildProcess, output: Readable, { take, ended }: FloodRelayOptions) {
    this.#child = child;
    this.#output = output;
    output.on('data', (bytes: Buffer) => {
      if (!this.#isDisposed) take(bytes);
    });
    // It reads nothing from its input, and may be gone when that is closed.
    child.stdin?.on('error', () => undefined);
    // No Perl, too many processes, …: `close` follows.
    child.on('error', () => undefined);
    // A read that fails ends it as the end of its output does: `close` follows here, too.
    output.on('error', () => child.kill('SIGKILL'));
    this.gone = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        if (!this.#isDisposed) ended(endOf(code, signal));
        resolve();
      });
    });
  }

  /** Undefined when the system has no process or descriptor for it. */
  static start(options: FloodRelayOptions): FloodRelay | undefined {
    const { fd, program = 'perl' } = options;
    try {
      const child = spawn(program, ['-e', SCRIPT], { env: ENV, stdio: ['pipe', 'pipe', 'ignore', fd] });
      if (child.stdout !== null) return new FloodRelay(child, child.stdout, options);
      child.on('error', () => undefined);
    } catch (fault) {
      if (systemCodeOf(fault) === undefined) throw fault;
    }
    return undefined;
  }

  pause(): void {
    this.#output.pause();
  }

  resume(): void {
    this.#output.resume();
  }

  /** Ends it as soon as nothing is left to read; `ended` follows. */
  finish(): void {
    this.#child.stdin?.end();
  }

  /** Ends it at once, with what it has read; nothing is told any more. */
  dispose(): void {
    this.#isDisposed = true;
    this.#child.kill('SIGKILL');
    this.#output.destroy();
  }
}

function endOf(code: number | null, signal: NodeJS.Signals | null): RelayEnd {
  if (code === 0) return 'whole';
  // Exit 1 is before the first read, and below nothing it was not started at all.
  return signal === null && code !== null && code <= 1 ? 'unable' : 'torn';
}
