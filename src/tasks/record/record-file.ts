import { z } from 'zod';
import { problemsOf, readJsonFile } from '../../base/files/json-file.js';
import type { StateDir } from '../../store/state-dir.js';
import { RECORD_VERSION, taskRecordSchema, type TaskRecord } from '../task.js';

/** A record is parsed in one go. Its parts are bounded, so that it stays far below. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;

export type RecordFile =
  | { readonly state: 'ok'; readonly record: TaskRecord }
  | { readonly state: 'missing' }
  /** Written by a newer bridge: it is left alone. `why` is a sentence. */
  | { readonly state: 'newer'; readonly why: string }
  /** It cannot be read. `why` is a sentence. */
  | { readonly state: 'corrupt'; readonly why: string };

/**
 * The record of a task on disk. One that cannot be read stays where it is: its keeper may
 * live, and puts a whole one there with its next change. Throws BridgeError STATE_UNUSABLE when the disk does not let it be read.
 */
export async function readRecordFile(stateDir: StateDir, taskId: string): Promise<RecordFile> {
  const path = stateDir.recordFile(taskId);
  const file = await readJsonFile(path, z.unknown(), MAX_RECORD_BYTES);
  if (file.state === 'missing') return file;
  if (file.state === 'corrupt') return corrupt(path, file.why);
  return checked(path, file.value);
}

function checked(path: string, value: unknown): RecordFile {
  const version = z.object({ schema_version: z.int() }).safeParse(value).data?.schema_version ?? 0;
  if (version > RECORD_VERSION) {
    return {
      state: 'newer',
      why: `The record has version ${version}, and this bridge reads up to ${RECORD_VERSION}: it is left alone for the newer bridge that wrote it.`,
    };
  }
  const parsed = taskRecordSchema.safeParse(value);
  if (parsed.success) return { state: 'ok', record: parsed.data };
  return corrupt(path, problemsOf(parsed.error));
}

function corrupt(path: string, why: string): RecordFile {
  return { state: 'corrupt', why: `The record ${path} cannot be read: ${why}.` };
}

export function recordOf(file: RecordFile): TaskRecord | undefined {
  return file.state === 'ok' ? file.record : undefined;
}
