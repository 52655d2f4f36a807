// Pure: records of older bridges, brought to the form of this one, step by step.
import { z } from 'zod';

/** The form of record.json that this bridge writes. With each new form comes a row in the table of steps. */
export const RECORD_VERSION = 2;

type Fields = Readonly<Record<string, unknown>>;

/** What makes a record of version n one of version n + 1. Steps are never changed once they were released. */
const steps: ReadonlyMap<number, (record: Fields) => Fields> = new Map([
  [
    // The first form called its version `version`, counted durations by the wall clock, and did not tell of a failing disk.
    1,
    ({ version: _version, ...rest }: Fields): Fields => ({
      ...rest,
      started_monotonic_ms: null,
      storage: null,
    }),
  ],
]);

const fieldsSchema = z.record(z.string(), z.unknown());
const versionSchema = z.number().int().positive();

/** The version that a record says it has; undefined for what is no record. */
export function recordVersionOf(value: unknown): number | undefined {
  const fields = fieldsSchema.safeParse(value).data;
  return versionSchema.safeParse(fields?.['schema_version'] ?? fields?.['version']).data;
}

/** An older record in the form of this bridge; anything else as it is, for the schema to check. */
export function migrateRecord(value: unknown): unknown {
  const version = recordVersionOf(value);
  const parsed = fieldsSchema.safeParse(value);
  if (version === undefined || version >= RECORD_VERSION || !parsed.success) return value;
  let record: Fields = parsed.data;
  for (let at = version; at < RECORD_VERSION; at++) {
    const step = steps.get(at);
    if (step === undefined) return value;
    record = { ...step(record), schema_version: at + 1 };
  }
  return record;
}
