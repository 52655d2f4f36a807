import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const screensDir = join(import.meta.dirname, '..', 'fixtures', 'screens');

const metaSchema = z.object({
  about: z.string(),
  columns: z.number(),
  rows: z.number(),
  cursor: z.object({ column: z.number(), row: z.number() }),
});
const castEventSchema = z.tuple([z.number(), z.literal('o'), z.string()]);

/** A screen of the real CLI, as it was recorded. */
export interface ScreenFixture {
  readonly version: string;
  readonly name: string;
  readonly folder: string;
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
  readonly lines: readonly string[];
  readonly cursor: { readonly column: number; readonly row: number };
}

/** Every recorded screen, in order of version and name. */
export function allScreenFixtures(): ScreenFixture[] {
  return readdirSync(screensDir).flatMap((version) =>
    readdirSync(join(screensDir, version)).map((name) => screenFixture(version, name)),
  );
}

export function screenFixture(version: string, name: string): ScreenFixture {
  const folder = join(screensDir, version, name);
  const text = readFileSync(join(folder, 'screen.txt'), 'utf8').replace(/\n$/, '');
  const { columns, rows, cursor } = metaSchema.parse(
    JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')),
  );
  const filled = text.split('\n');
  const lines = Array.from({ length: rows }, (_, row) => filled[row] ?? '');
  return { version, name, folder, text, columns, rows, lines, cursor };
}

/** What the CLI wrote to its terminal up to that screen. */
export function recordedBytes(fixture: ScreenFixture): Buffer {
  const [, ...events] = readFileSync(join(fixture.folder, 'terminal.cast'), 'utf8').trimEnd().split('\n');
  return Buffer.from(events.map((line) => castEventSchema.parse(JSON.parse(line))[2]).join(''));
}
