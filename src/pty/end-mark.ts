// Pure: the end mark of a terminal's output, and the shell text that prints it.

/**
 * The fixed text that every child is started with: `shell -c TEXT name nonce stdin-file program args…`. Nothing from a
 * caller is ever part of it.
 *
 * node-pty loses the end of the output of a child that prints and exits at once. So the child is not the terminal's first
 * process: this shell is. When the program has ended it prints a mark with the exit code and stays, stopped, until the
 * reader has seen the mark and kills it; what was printed before the mark has then been read.
 *
 * - Signals for the whole foreground group (Ctrl-C, `kill 0`) must not end the shell; a handler that does nothing is
 *   reset to the default in the program, an ignored signal would not be.
 * - HUP is not among them: when the reader dies, the shell dies of it, and with the session's leader gone the kernel
 *   sends HUP to the program, too.
 * - Descriptor 8 is the pipe by which others see that the program, or a child of it, still runs: see LIFE_VARIABLE.
 * - The shell's own words ("Segmentation error") go to /dev/null; descriptor 3 keeps the terminal for the program. It is
 *   taken for stderr before the stdin file is opened, so that an error about a missing file is seen.
 * - The subshell is the process that becomes the program: some shells redirect in the parent otherwise.
 * - It stops itself rather than sleeping, which needs no program from PATH; SIGCONT (part of a kill) makes it stop again.
 */
export const WRAPPER_TEXT = `n=$1 f=$2
shift 2
if [ -p "$CLAUDE_CODE_BRIDGE_LIFE" ]; then exec 8<>"$CLAUDE_CODE_BRIDGE_LIFE"; fi
trap : INT QUIT TERM TSTP USR1 USR2 ALRM PIPE
exec 3>&2 2>/dev/null
if [ -n "$f" ]; then (exec "$@" 2>&3 <"$f" 3>&-); else (exec "$@" 2>&3 3>&-); fi
c=$?
printf '\\033]6973;%s;%03d\\007' "$n" "$c"
while :; do kill -STOP $$; done`;

/** Behind the prefix of a mark: three digits of the exit code (a shell's codes are at most `511`) and BEL. */
const TAIL = /^(\d{3})\x07$/;
const TAIL_BYTES = 4;

export interface EndMarkResult {
  /** What the program printed; the mark is taken out. May be empty. */
  readonly output: Buffer;
  /** The shell's exit code once the mark has been seen. */
  readonly code?: number;
}

const EMPTY = Buffer.alloc(0);

/** Finds the mark in a stream of chunks, wherever they are cut. Marks with another nonce are ordinary output. */
export class EndMarkReader {
  readonly #prefix: Buffer;
  /** The beginning of what may become the mark: never longer than the mark itself. */
  #held: Buffer = EMPTY;

  constructor(nonce: string) {
    this.#prefix = Buffer.from(`\x1b]6973;${nonce};`, 'latin1');
  }

  read(chunk: Buffer): EndMarkResult {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = EMPTY;
    for (let from = 0; ; from++) {
      from = bytes.indexOf(this.#prefix, from);
      if (from === -1) return { output: this.#hold(bytes, bytes.length - this.#partialPrefix(bytes)) };
      const end = from + this.#prefix.length + TAIL_BYTES;
      if (end > bytes.length) return { output: this.#hold(bytes, from) };
      const code = TAIL.exec(bytes.toString('latin1', end - TAIL_BYTES, end))?.[1];
      if (code === undefined) continue;
      return { output: Buffer.concat([bytes.subarray(0, from), bytes.subarray(end)]), code: Number(code) };
    }
  }

  /** What was held back when no more chunks come. */
  flush(): Buffer {
    const held = this.#held;
    this.#held = EMPTY;
    return held;
  }

  #hold(bytes: Buffer, end: number): Buffer {
    if (end === bytes.length) return bytes;
    this.#held = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** How many bytes at the end of `bytes` are the beginning of the prefix. */
  #partialPrefix(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#prefix.length + 1);
    for (let at = bytes.indexOf(0x1b, from); at !== -1; at = bytes.indexOf(0x1b, at + 1)) {
      const length = bytes.length - at;
      if (bytes.compare(this.#prefix, 0, length, at) === 0) return length;
    }
    return 0;
  }
}
