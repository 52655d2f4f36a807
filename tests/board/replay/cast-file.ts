import { appendFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/system-clock.js';
import { Screen } from '../../../src/screen/screen.js';
import type { Size } from '../../../web/replay/recording.js';
import type { HiddenTerminal, Reel } from '../../../web/replay/reel.js';
import { tempFolder } from '../../harness/temp-folder.js';

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
    const folder = await tempFolder();
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

/** The same at a moment of a recording, as a page shows it. */
export function seen(reel: Reel, ms: number): Promise<string> {
  const { size, state, next } = shownAt(reel, ms);
  const texts = [state];
  for (
    let number = next, event = reel.event(number);
    event !== undefined && event.ms <= ms;
    event = reel.event(++number)
  )
    if (event.kind === 'output') texts.push(event.text);
  return shownBy(size.columns, size.rows, texts);
}

export function shownAt(reel: Reel, ms: number): NonNullable<ReturnType<Reel['before']>> {
  const picture = reel.before(ms);
  if (picture === undefined) throw new Error('nothing is shown');
  return picture;
}

/** As the page has one, without a page. */
export function hiddenTerminal({ columns, rows }: Size): HiddenTerminal {
  const screen = new Screen({ columns, rows, scrollback: 0, clock: systemClock, reply: () => undefined });
  return {
    write: async (text) => {
      void screen.feed(Buffer.from(text));
      await screen.parsed();
    },
    resize: (size) => screen.resize(size.columns, size.rows),
    state: () => screen.state(0),
    dispose: () => screen.dispose(),
  };
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
