import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { ignoreBridgeError } from '../../../src/base/errors.js';
import { bytesOfKeys } from '../../../src/processes/keys.js';
import type { ProcessHandle } from '../../../src/processes/process-handle.js';
import { Screen } from '../../../src/screen/screen.js';
import {
  Collector,
  start,
  type,
  type BackendFacts,
  type BackendUnderTest,
  type OpenBackend,
  type SpecOptions,
  wordsOf,
  type Command,
} from './under-test.js';

const SIZE = { columns: 80, rows: 24 };

/** A process in a terminal, with the screen that shows it. */
interface OnScreen {
  readonly process: ProcessHandle;
  readonly output: Collector;
  readonly press: (...keys: string[]) => Promise<void>;
  /** Resolves when the screen shows the text. */
  readonly shows: (wanted: string | RegExp) => Promise<string>;
}

async function onScreen(
  test: BackendUnderTest,
  command: Command,
  options: SpecOptions = {},
): Promise<OnScreen> {
  const tty = options.tty ?? SIZE;
  const output = new Collector();
  // What it asks before `spawn` has answered is answered then.
  const early: Uint8Array[] = [];
  let reply = (bytes: Uint8Array): void => void early.push(bytes);
  const screen = new Screen({
    ...tty,
    scrollback: 100,
    clock: systemClock,
    reply: (text) => reply(Buffer.from(text, 'latin1')),
  });
  let printed: () => void = () => undefined;
  const sink = {
    write: (stream: 'stdout' | 'stderr' | 'terminal', bytes: Uint8Array) => {
      void screen.feed(bytes);
      const wait = output.write(stream, bytes);
      printed();
      return wait;
    },
  };
  const running = await test.backend.spawn(test.spec(wordsOf(command), { ...options, tty }), sink);
  reply = (bytes) => void running.write(bytes).catch(ignoreBridgeError);
  for (const bytes of early) reply(bytes);
  void running.exited.then(() => printed());
  return {
    process: running,
    output,
    press: async (...keys) => {
      await running.write(bytesOfKeys(keys, screen.hasApplicationCursorKeys));
    },
    shows: async (wanted) => {
      for (;;) {
        const next = new Promise<void>((resolve) => (printed = resolve));
        await screen.parsed();
        const text = screen.snapshot().text();
        if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) return text;
        if (running.status === 'terminated') throw new Error(`It ended without that, and shows:\n${text}`);
        await next;
      }
    },
  };
}

/** Programs in a terminal, used as a person would. */
export function describeTerminal({ programs }: BackendFacts, open: OpenBackend): void {
  describe('a terminal', () => {
    it('is one, of the size that was asked for', async () => {
      const { output, process } = await start(
        await open(),
        // An engine before API 1.42 gives the size a moment later; until then busybox says that there is none.
        'test -t 0 && test -t 1 && test -t 2 && echo yes; until size=$(stty size 2>/dev/null) && test "$size"; do :; done; echo "$size"',
        { tty: { columns: 101, rows: 37 } },
      );
      expect((await process.exited).code).toBe(0);
      expect(output.text('terminal')).toBe('yes\r\n37 101\r\n');
      expect(output.text('stdout') + output.text('stderr')).toBe('');
    });

    it('is resized, and its program is told', async () => {
      const { process, output } = await start(
        await open(),
        `trap 'stty size; test "$(stty size)" = "50 132" && exit 0' WINCH; echo up; while :; do sleep 0.02; done`,
        { tty: SIZE },
      );
      await output.has('up');
      await process.resize({ columns: 132, rows: 50 });
      await process.exited;
      expect(output.text('terminal')).toContain('50 132');
    });

    it('loses nothing of what is printed right before the end', async () => {
      const { process, output } = await start(await open(), 'seq 1 20000', { tty: SIZE });
      await process.exited;
      expect(output.text('terminal').trimEnd().split('\r\n')).toHaveLength(20_000);
    });

    it('echoes what is typed, and gives it to the program at the end of the line', async () => {
      const { process, output } = await start(await open(), 'read -r x; echo "got $x"', { tty: SIZE });
      await type(process, 'words\r');
      await process.exited;
      expect(output.text('terminal')).toBe('words\r\ngot words\r\n');
    });

    it('ends input by ctrl-d, and a program by ctrl-c', async () => {
      const test = await open();
      const cat = await start(test, ['cat'], { tty: SIZE });
      await type(cat.process, 'line\r\x04');
      expect((await cat.process.exited).code).toBe(0);
      await expect(cat.process.endInput()).rejects.toMatchObject({ code: 'NO_TERMINAL' });
      const sleeping = await start(test, 'echo up; exec sleep 60', { tty: SIZE });
      await sleeping.output.has('up');
      await type(sleeping.process, '\x03');
      const exit = await sleeping.process.exited;
      expect(exit.signal ?? exit.code).toBe(exit.signal === undefined ? 130 : 'SIGINT');
    });

    it('answers a program that asks where the cursor is', async () => {
      const ask = "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -c; stty sane";
      const { output, process } = await start(await open(), 'true', { tty: SIZE });
      await process.exited;
      expect(output.bytes).toBe(0);
      const asking = await onScreen(await open(), ask);
      await asking.shows(/\[\s+1\s+;\s+3\s+R/);
      await asking.process.exited;
    });

    const { vi, node } = programs;
    if (vi !== undefined) {
      it('writes a file with vi', async () => {
        const { shows, press, process, output } = await onScreen(
          await open(),
          `f="\${TMPDIR:-/tmp}/vi-$$"; ${vi} "$f"; echo "file: $(cat "$f")"; rm -f "$f"`,
        );
        await shows(/^~/m);
        await type(process, 'ihello from vi');
        await shows('hello from vi');
        await press('esc');
        // With what follows at once, the key would be the beginning of a sequence: the line of the state says that it was taken.
        await shows(/^(?![\s\S]*(?:-- INSERT --|\nI \S*vi-))/);
        await type(process, ':wq');
        await press('enter');
        await process.exited;
        expect(output.text('terminal')).toContain('file: hello from vi');
      });
    }
    if (node !== undefined) {
      it('talks to a REPL of node', async () => {
        const { shows, press, process } = await onScreen(await open(), [node, '-i'], {
          env: { NODE_REPL_HISTORY: '' },
        });
        await shows(/^> ?$/m);
        // It shows results before they are asked for, and works with the terminal's own editing, by which keys are lost: each
        // line is over when the next prompt is there.
        await type(process, 'const n = 6 * 7');
        await press('enter');
        await shows(/^undefined\n> ?$/m);
        await type(process, 'n + 1000');
        await press('enter');
        await shows(/^1042\n> ?$/m);
        await press('up');
        await shows(/^1042\n> n \+ 1000$/m);
        await press('ctrl-c', 'ctrl-d');
        expect((await process.exited).code).toBe(0);
      });
    }
  });
}
