import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ReplayEvent, ReplayScreenAt } from '../../../src/board/replay/replay-state.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { Screen } from '../../../src/screen/screen.js';

export type CastEvent = readonly [seconds: number, kind: string, text: string];

export const BEGAN_MS = 1_700_000_000_500;
const COLUMNS = 30;
export const ROWS = 6;

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
  const screen = new Screen({ columns, rows, scrollback: 0, clock: systemClock, reply: () => undefined });
  try {
    void screen.feed(Buffer.from(texts.join('')));
    await screen.parsed();
    return screen.picture({ columns, rows });
  } finally {
    screen.dispose();
  }
}
