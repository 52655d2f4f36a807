import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What a client can do with the bridge. */
const FEATURES = ['init', 'tools', 'delegation', 'calledBack', 'resources', 'prompts'] as const;
export type Feature = (typeof FEATURES)[number];

const clientSchema = z.object({
  title: z.string(),
  version: z.string(),
  /** The day of the run. */
  date: z.iso.date(),
  /** What was seen to work, in a few words each. */
  works: z.partialRecord(z.enum(FEATURES), z.string()),
  /** Sentences. */
  lacks: z.array(z.string()),
});
export const seenSchema = z.record(z.string(), clientSchema);
export type SeenClients = z.infer<typeof seenSchema>;

const FILE = join(import.meta.dirname, 'seen.json');

/** What was seen of all clients so far. */
export function readSeen(): SeenClients {
  return seenSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
}

/** Records what a test has seen; only with CLIENTS_RECORD=1. The files of the suite run one after the other. */
export function record(
  key: string,
  client: { readonly title: string; readonly version: string },
  works: Readonly<Partial<Record<Feature, string>>>,
  lacks: readonly string[] = [],
): void {
  if (process.env['CLIENTS_RECORD'] !== '1') return;
  const all = readSeen();
  const { title, version } = client;
  const date = new Date().toISOString().slice(0, 10);
  all[key] = { title, version, date, works, lacks: [...lacks] };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}
