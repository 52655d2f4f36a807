import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { RecordingIndex } from '../../../src/board/replay/recording-index.js';
import type { KeyFrameBounds } from '../../../src/board/replay/key-frames.js';
import type { ReplayEvent, ReplayScreenAt } from '../../../src/board/replay/replay-state.js';
import { Emulator } from '../../../src/screen/emulator.js';

export type CastEvent = readonly [seconds: number, kind: string, text: string];

export const BEGAN_MS = 1_700_000_000_500;
export const COLUMNS = 30;
export const ROWS = 6;
/** Many frames of little. */
export const SMALL: KeyFrameBounds = { everyChars: 40, everyMs: 1_000, maxChars: 1_000_000 };

/** The file of a recording that a test writes, removed with the test. */
export class CastFile {
  readonly path: string;

  private constructor(folder: string) {
    this.path = join(folder, 'terminal.cast');
  }

  static async create(): Promise<CastFile> {
    const folder = await mkdtemp(join(tmpdir(), 'bridge-replay-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return new CastFile(folder);
  }

  /** Of a part that begins so many milliseconds after the recording. */
  async head(ms = 0): Promise<void> {
    const began_ms = BEGAN_MS + ms;
    const timestamp = Math.floor(began_ms / 1000);
    await this.raw(`${JSON.stringify({ version: 2, width: COLUMNS, height: ROWS, timestamp, began_ms })}\n`);
  }

  async events(...events: readonly CastEvent[]): Promise<void> {
    await this.raw(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  raw(text: string): Promise<void> {
    return appendFile(this.path, text);
  }

  /** As the writer does it; `state` is the screen with which the new part begins. */
  async rotate(ms: number, state: string): Promise<void> {
    await rename(this.path, `${this.path}.1`);
    await this.head(ms);
    await this.events([0, 'o', state]);
  }

  index(bounds?: KeyFrameBounds): RecordingIndex {
    const index = new RecordingIndex(this.path, bounds);
    onTestFinished(() => index.close());
    return index;
  }
}

/** What a person sees after these events: text, colours, cursor. */
export function straight(events: readonly CastEvent[]): Promise<string> {
  return shownBy(
    COLUMNS,
    ROWS,
    events.map(([, , text]) => text),
  );
}

/** The same of an answer to a seek, as a page shows it, and of what was played after it. */
export function seen(
  { columns, rows, state }: ReplayScreenAt,
  after: readonly ReplayEvent[] = [],
): Promise<string> {
  return shownBy(columns, rows, [state, ...after.map(([, , text]) => text)]);
}

async function shownBy(columns: number, rows: number, texts: readonly string[]): Promise<string> {
  const emulator = new Emulator({ columns, rows, scrollback: 0, reply: () => undefined });
  try {
    await write(emulator, texts.join(''));
    return emulator.serializer.picture({ columns, rows });
  } finally {
    emulator.dispose();
  }
}

function write({ terminal }: Emulator, text: string): Promise<void> {
  return new Promise((resolve) => terminal.write(text, resolve));
}
