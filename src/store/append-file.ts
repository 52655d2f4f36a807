import { constants } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { Backlog } from '../base/lifecycle.js';
import type { Clock } from '../base/clock.js';
import { systemClock } from '../base/system-clock.js';
import { systemCodeOf } from '../base/errors.js';
import { newestPart } from './newest-part.js';

/** With more than this queued, the source should wait. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 512 * 1024;
/** The size of one write, which many small entries share. */
const WRITE_BYTES = 256 * 1024;
/** How often a writer checks that its file still exists: writes to a removed file are lost without an error. */
const REMOVAL_CHECK_MS = 1_000;
const OWNER_ONLY = 0o600;

/** The files that hold the parts of an append file. */
export interface Parts {
  /** A part is full when an entry would make it longer than this. */
  readonly partBytes: number;
  /** The part that an earlier writer left, to be continued; size 0 if there is none. */
  readonly last: { readonly path: string; readonly size: number };
  /** Lost entries end the part, so that the offset of the next part shows where the gap ends. */
  readonly endsAtGap: boolean;
  /** Prepares a new part that begins at this offset, and returns its path. */
  begin(offset: number): Promise<string>;
}

export interface AppendFileOptions {
  readonly parts: Parts;
  /** While the disk fails, the newest entries up to this size stay queued, to be written when it works again. */
  readonly keptBytes: number;
  /** While the disk fails, entries retry it only after this time; `flush` always does. */
  readonly retryMs?: number;
  /** An entry that is longer than a part gets its own part; otherwise it is lost. */
  readonly keepsLongEntries?: boolean;
  /** Of a text that is longer than a part, the newest part is written. */
  readonly cutsLongEntries?: boolean;
  /** The first bytes of every part, or `''`. `goneBytes` were written before the part before it. */
  readonly header?: (goneBytes: number) => string;
  /** Recreates the folder of the parts. May throw. */
  readonly makeFolder?: () => Promise<unknown>;
  /** Called each time writing starts to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
  /** Called when the file was removed while in use; the next `flush` also reports it. Must not throw. */
  readonly onRemoved?: () => void;
  readonly clock?: Clock;
}

interface Entry {
  readonly bytes: Buffer;
  /** The position of its first byte in everything ever written. */
  readonly offset: number;
  /** It is the first entry of its part: the header, if there is one. */
  isFirst: boolean;
  /** `Parts.begin` must be called before it is written. */
  begins: boolean;
}

/** `removed`: the file was removed while in use; the next entry recreates it. */
export type FlushResult = 'written' | 'removed' | 'failing';

/**
 * An append-only file of bounded size, in parts of which the oldest are dropped. Entries are written in order, in the background,
 * and are never split between parts. A failing disk does not block the caller: lost bytes are counted, and the rest is written when
 * the disk works again. A removed file is recreated.
 */
export class AppendFile {
  readonly #options: AppendFileOptions;
  readonly #parts: Parts;
  readonly #clock: Clock;
  readonly #backlog = new Backlog({ highBytes: HIGH_WATER_BYTES, lowBytes: LOW_WATER_BYTES });
  /** Oldest first. */
  #queue: Entry[] = [];
  #endBytes = 0;
  #lostBytes = 0;
  /** The size of the newest part once everything queued is written. */
  #plannedBytes: number;
  #beginsNext: boolean;
  /** The positions at which the newest part begins and the part before it. */
  #partFrom = 0;
  #previousFrom = 0;
  #path: string;
  #handle: FileHandle | undefined;
  #fileId: { readonly ino: number; readonly dev: number } | undefined;
  /** The size of the newest part up to its last whole entry; undefined before it is opened. */
  #writtenBytes: number | undefined;
  /** Resolves with true when everything was written. */
  #running: Promise<boolean> | undefined;
  #isFailing = false;
  #isRemoved = false;
  #isClosed = false;
  #retryAtMs = -Infinity;
  #removalCheckedMs = -Infinity;

  constructor(options: AppendFileOptions) {
    this.#options = options;
    this.#parts = options.parts;
    this.#clock = options.clock ?? systemClock;
    const { path, size } = this.#parts.last;
    this.#path = path;
    this.#plannedBytes = size;
    this.#beginsNext = path === '';
  }

  /** All bytes passed to `write`, and those of headers. */
  get endBytes(): number {
    return this.#endBytes;
  }

  /** The bytes that were not written: the disk failed, or an entry was longer than a part. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  get waitingBytes(): number {
    return this.#backlog.bytes;
  }

  /** True from a failed write until the next successful one. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Begins a new part if an entry of this size would not fit into the current one. */
  makeRoom(bytes: number): void {
    if (this.#plannedBytes > 0 && this.#plannedBytes + bytes > this.#parts.partBytes) {
      this.#beginsNext = true;
      this.#plannedBytes = 0;
      this.#previousFrom = this.#partFrom;
      this.#partFrom = this.#endBytes;
    }
    const header = this.#plannedBytes === 0 ? this.#header() : undefined;
    if (header !== undefined) this.#enqueue(header);
  }

  /** Copies one entry. When the source should wait for the disk, returns a promise, which never rejects. */
  write(data: string | Uint8Array): Promise<void> | undefined {
    const given = Buffer.from(data);
    const entry = this.#isClosed ? undefined : this.#fitting(given);
    if (entry === undefined) this.#lose(given.length);
    if (entry === undefined || entry.length === 0) return undefined;
    this.makeRoom(entry.length);
    this.#enqueue(entry);
    if (this.#running === undefined && this.#clock.monotonicMs() < this.#retryAtMs) {
      // Waiting for a failing disk would not help.
      this.#dropOldest();
      return undefined;
    }
    void this.#run();
    return this.#backlog.drained;
  }

  /** Resolves when everything queued so far is written or lost, or when the disk fails. */
  async flush(): Promise<FlushResult> {
    this.#removalCheckedMs = -Infinity;
    if (!(await this.#run())) return 'failing';
    const isRemoved = this.#isRemoved;
    this.#isRemoved = false;
    return isRemoved ? 'removed' : 'written';
  }

  /** Flushes and closes the file. The next entry opens it again. */
  async release(): Promise<void> {
    await this.flush();
    await this.#closeHandle();
  }

  /** Flushes, syncs the file if requested, and closes it. Later entries are lost. */
  async close(options: { readonly isDurable?: boolean } = {}): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    this.#lostBytes += this.#backlog.bytes;
    this.#backlog.remove(this.#backlog.bytes);
    this.#queue = [];
    try {
      if (options.isDurable === true) await this.#handle?.datasync();
    } catch (error) {
      this.#options.onError(error);
    }
    await this.#closeHandle();
  }

  /** The entry, or as much of it as a part takes; undefined if it takes none. */
  #fitting(entry: Buffer): Buffer | undefined {
    const { keepsLongEntries, cutsLongEntries } = this.#options;
    const { partBytes } = this.#parts;
    if (entry.length <= partBytes || keepsLongEntries === true) return entry;
    if (cutsLongEntries !== true) return undefined;
    const { bytes, leftOutBytes } = newestPart(entry, partBytes);
    this.#lose(leftOutBytes);
    return bytes;
  }

  #lose(bytes: number): void {
    this.#endBytes += bytes;
    this.#lostBytes += bytes;
  }

  #header(): Buffer | undefined {
    const text = this.#options.header?.(this.#previousFrom) ?? '';
    return text === '' ? undefined : Buffer.from(text);
  }

  #enqueue(bytes: Buffer): void {
    const isFirst = this.#plannedBytes === 0;
    this.#queue.push({ bytes, offset: this.#endBytes, isFirst, begins: this.#beginsNext });
    this.#beginsNext = false;
    this.#endBytes += bytes.length;
    this.#plannedBytes += bytes.length;
    void this.#backlog.add(bytes.length);
  }

  #run(): Promise<boolean> {
    return (this.#running ??= this.#writeAll());
  }

  async #writeAll(): Promise<boolean> {
    // Entries added in the same tick share a write.
    await Promise.resolve();
    try {
      await this.#checkRemoved();
      for (let entry = this.#queue[0]; entry !== undefined; entry = this.#queue[0]) {
        if (entry.begins) await this.#beginPart(entry);
        await this.#writeBatch();
        await this.#checkRemoved();
      }
      return true;
    } catch (error) {
      await this.#fail(error);
      return false;
    } finally {
      // Not a tick later: an entry queued in between would never be written.
      this.#running = undefined;
    }
  }

  async #beginPart(entry: Entry): Promise<void> {
    await this.#closeHandle();
    this.#path = await this.#parts.begin(entry.offset);
    entry.begins = false;
    this.#fileId = undefined;
    this.#writtenBytes = undefined;
  }

  /** The entries stay in the queue until they are in the file. */
  async #writeBatch(): Promise<void> {
    let count = 0;
    let length = 0;
    for (const { bytes, begins } of this.#queue) {
      if (count > 0 && (begins || length + bytes.length > WRITE_BYTES)) break;
      count++;
      length += bytes.length;
    }
    const batch = this.#queue.slice(0, count).map(({ bytes }) => bytes);
    const [first = Buffer.alloc(0)] = batch;
    const bytes = count === 1 ? first : Buffer.concat(batch, length);
    const handle = this.#handle ?? (await this.#open());
    for (let at = 0; at < length;) at += (await handle.write(bytes, at)).bytesWritten;
    this.#queue.splice(0, count);
    this.#writtenBytes = (this.#writtenBytes ?? 0) + length;
    this.#isFailing = false;
    this.#retryAtMs = -Infinity;
    this.#backlog.remove(length);
  }

  async #open(): Promise<FileHandle> {
    const handle = await this.#openPath().catch(async (error: unknown) => {
      const { makeFolder } = this.#options;
      if (systemCodeOf(error) !== 'ENOENT' || makeFolder === undefined) throw error;
      await makeFolder();
      return this.#openPath();
    });
    this.#handle = handle;
    const { size, ino, dev } = await handle.stat();
    this.#fileId = { ino, dev };
    // Bytes behind the last whole entry are the torn end of a failed write.
    if (this.#writtenBytes !== undefined && size > this.#writtenBytes)
      await handle.truncate(this.#writtenBytes);
    else this.#writtenBytes = size;
    return handle;
  }

  #openPath(): Promise<FileHandle> {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Do not follow links or block on a FIFO: the agent may be able to write to the folder.
    return open(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, OWNER_ONLY);
  }

  /** When the file was removed, the queued entries go into a new one. */
  async #checkRemoved(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#fileId === undefined || nowMs - this.#removalCheckedMs < REMOVAL_CHECK_MS) return;
    this.#removalCheckedMs = nowMs;
    const { ino, dev } = this.#fileId;
    const found = await lstat(this.#path).catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (found?.ino === ino && found.dev === dev) return;
    await this.#closeHandle();
    this.#isRemoved = true;
    this.#fileId = undefined;
    this.#writtenBytes = undefined;
    this.#restartPart(this.#parts.endsAtGap);
    this.#options.onRemoved?.();
  }

  async #fail(error: unknown): Promise<void> {
    const isNew = !this.#isFailing;
    this.#isFailing = true;
    this.#retryAtMs = this.#clock.monotonicMs() + (this.#options.retryMs ?? 0);
    // An error here does not matter: `#open` truncates again.
    if (this.#writtenBytes !== undefined)
      await this.#handle?.truncate(this.#writtenBytes).catch(() => undefined);
    await this.#closeHandle();
    this.#dropOldest();
    this.#backlog.release();
    if (isNew) this.#options.onError(error);
  }

  #dropOldest(): void {
    let isNewPart = false;
    let isHeaderLost = false;
    while (this.#backlog.bytes > this.#options.keptBytes) {
      const entry = this.#queue.shift();
      if (entry === undefined) break;
      this.#backlog.remove(entry.bytes.length);
      this.#lostBytes += entry.bytes.length;
      isNewPart ||= this.#parts.endsAtGap || entry.begins;
      isHeaderLost ||= entry.isFirst;
    }
    if (isNewPart || isHeaderLost) this.#restartPart(isNewPart);
  }

  /** Makes the next entry the first of a new part, or the first of the current one once more. */
  #restartPart(isNewPart: boolean): void {
    const [first] = this.#queue;
    if (first === undefined) {
      this.#beginsNext ||= isNewPart;
      this.#plannedBytes = 0;
      return;
    }
    if (first.isFirst) return;
    const header = this.#header();
    if (header === undefined) {
      first.isFirst = true;
      first.begins = isNewPart;
      return;
    }
    this.#queue.unshift({ bytes: header, offset: first.offset, isFirst: true, begins: isNewPart });
    void this.#backlog.add(header.length);
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    // Nothing can be done about a close that fails (on a network disk).
    await handle?.close().catch(() => undefined);
  }
}
