import { link, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';
import { readJsonFile, type JsonFile } from '../base/json-file.js';
import type { Logger } from '../base/logger.js';
import type { StateDir } from '../store/state-dir.js';
import { RECORD_VERSION, recordVersionOf } from './record-versions.js';
import { taskRecordSchema, type TaskRecord } from './task.js';

export type RecordFile =
  | { readonly state: 'ok'; readonly record: TaskRecord }
  | { readonly state: 'missing' }
  /** Written by a newer bridge: it is left alone. `why` is a sentence. */
  | { readonly state: 'newer'; readonly why: string }
  /** It could not be read and lies beside its place under another name. `why` is a sentence. */
  | { readonly state: 'corrupt'; readonly why: string };

/** A record that could not be read keeps its bytes under its own name with this and the time behind it. */
const CORRUPT_INFIX = '.corrupt-';

/**
 * The record of a task on disk, older ones in the form of today. One that is no record is set aside, so that it is looked
 * at once, told of, and in nobody's way. Throws BridgeError STATE_UNUSABLE when the disk does not let it be read.
 */
export async function readRecordFile(
  stateDir: StateDir,
  taskId: string,
  { now, logger }: { readonly now: () => number; readonly logger: Logger },
): Promise<RecordFile> {
  const path = stateDir.recordFile(taskId);
  const file = await readJsonFile(path, z.unknown());
  if (file.state === 'missing') return setAsideBefore(path);
  const judged = judge(file);
  if (judged.state !== 'corrupt') return judged;
  const aside = `${path}${CORRUPT_INFIX}${new Date(now()).toISOString().replaceAll(':', '-')}`;
  try {
    await rename(path, aside);
  } catch (fault) {
    // Another server was faster, or the disk takes nothing: then it is told again at the next look.
    if (systemCodeOf(fault) === undefined) throw fault;
    return judged;
  }
  // Its keeper may have replaced it in between: that one goes back, unless there is a newer one by now.
  const moved = judge(await readJsonFile(aside, z.unknown()));
  if (moved.state !== 'corrupt') {
    await link(aside, path).catch(() => undefined);
    return moved;
  }
  logger.error('a task record could not be read and was set aside', {
    task_id: taskId,
    path: aside,
    why: judged.why,
  });
  return { state: 'corrupt', why: sentenceOf(aside) };
}

function judge(file: JsonFile<unknown>): Exclude<RecordFile, { state: 'missing' }> {
  if (file.state !== 'ok')
    return { state: 'corrupt', why: file.state === 'corrupt' ? file.why : 'it is gone' };
  const version = recordVersionOf(file.value);
  if (version !== undefined && version > RECORD_VERSION) {
    return {
      state: 'newer',
      why: `The record has version ${version}, and this bridge reads up to ${RECORD_VERSION}: it is left alone for the newer bridge that wrote it.`,
    };
  }
  const parsed = taskRecordSchema.safeParse(file.value);
  if (parsed.success) return { state: 'ok', record: parsed.data };
  const faults = parsed.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}`);
  return { state: 'corrupt', why: faults.join('; ') };
}

/** A folder without a record: there never was one, or it was set aside at an earlier look. */
async function setAsideBefore(path: string): Promise<RecordFile> {
  try {
    const prefix = `${basename(path)}${CORRUPT_INFIX}`;
    const aside = (await readdir(dirname(path))).filter((name) => name.startsWith(prefix)).sort();
    const newest = aside.at(-1);
    if (newest === undefined) return { state: 'missing' };
    return { state: 'corrupt', why: sentenceOf(join(dirname(path), newest)) };
  } catch (fault) {
    if (systemCodeOf(fault) === 'ENOENT') return { state: 'missing' };
    throw fault;
  }
}

function sentenceOf(aside: string): string {
  return `The record could not be read; its bytes are kept in ${aside}.`;
}
