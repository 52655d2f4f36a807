import { rename } from 'node:fs/promises';
import { z } from 'zod';
import { BridgeError, messageOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/json-file.js';

export type RecordRead<T> =
  | { readonly state: 'ok'; readonly value: T }
  | { readonly state: 'missing' }
  | { readonly state: 'corrupt'; readonly why: string }
  /** Written by a newer bridge, which alone knows what it means; it is to be left as it is. */
  | { readonly state: 'newer'; readonly version: number };

const versionedSchema = z.looseObject({ version: z.number().int() });

/** One versioned record on disk, with one writer at a time and any number of readers. */
export class RecordFile<T extends { readonly version: number }> {
  readonly path: string;
  readonly #schema: z.ZodType<T>;
  readonly #version: number;
  #newest: T | undefined;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;

  /** `version` is the one that `schema` describes. */
  constructor(path: string, schema: z.ZodType<T>, version: number) {
    this.path = path;
    this.#schema = schema;
    this.#version = version;
  }

  /** Throws BridgeError STATE_UNUSABLE when the system refuses to read it. */
  async read(): Promise<RecordRead<T>> {
    const raw = await readJsonFile(this.path, versionedSchema);
    if (raw.state !== 'ok') return raw;
    if (raw.value.version > this.#version) return { state: 'newer', version: raw.value.version };
    const parsed = this.#schema.safeParse(raw.value);
    if (parsed.success) return { state: 'ok', value: parsed.data };
    const [issue] = parsed.error.issues;
    return {
      state: 'corrupt',
      why: issue ? `${issue.path.map(String).join('.')}: ${issue.message}` : 'unknown',
    };
  }

  /**
   * Resolves when the record on disk is this value or a later one: while a write runs, the values that come meanwhile are
   * merged into the newest, so that a burst costs two writes. Rejects with BridgeError STATE_UNUSABLE.
   */
  write(value: T): Promise<void> {
    this.#newest = value;
    this.#queued ??= this.#writeNewest(this.#running);
    return this.#queued;
  }

  /** Moves a corrupt record out of the way, where a person can look at it; returns where. */
  async setAside(): Promise<string> {
    const aside = `${this.path}.corrupt`;
    try {
      await rename(this.path, aside);
      return aside;
    } catch (fault) {
      throw new BridgeError(
        'STATE_UNUSABLE',
        `Cannot set the corrupt record ${this.path} aside: ${messageOf(fault)}`,
        'Check that the state directory is yours and writable.',
        { cause: fault },
      );
    }
  }

  async #writeNewest(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {
      // Its own callers are told; this is a write of its own.
    });
    this.#running = this.#queued;
    this.#queued = undefined;
    await writeJsonFileAtomically(this.path, this.#newest);
  }
}
