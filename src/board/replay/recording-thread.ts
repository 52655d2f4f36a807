import { Worker } from 'node:worker_threads';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import {
  pieceSchema,
  screenAtSchema,
  threadMessageSchema,
  type ThreadProgress,
  type ThreadRequest,
} from './replay-messages.js';
import type { ReplayPiece, ReplayPlace, ReplayScreenAt } from './replay-state.js';

/** Far more than the key frames of any recording. */
const MEMORY_LIMIT_MB = 512;
/** A page waits for an answer before it asks again. */
const MAX_WAITING = 64;

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface RecordingThreadOptions {
  /** The current part of the recording. */
  readonly path: string;
  /** The built `replay-worker.ts`; default: the one next to the bundle of the board. */
  readonly workerFile?: URL | undefined;
  readonly onProgress: (progress: ThreadProgress) => void;
}

/** A recording that is read in a thread of its own, which ends with `dispose`. Its methods throw STATE_UNUSABLE. */
export class RecordingThread implements Disposable {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onProgress: (progress: ThreadProgress) => void;
  #ids = 0;
  #over: string | undefined;

  constructor({ path, workerFile, onProgress }: RecordingThreadOptions) {
    this.#onProgress = onProgress;
    this.#worker = new Worker(workerFile ?? new URL('./replay-worker.js', import.meta.url), {
      workerData: { path },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    });
    this.#worker.on('message', (message: unknown) => this.#received(message));
    this.#worker.once('error', (error) => this.#end(messageOf(error)));
    this.#worker.once('exit', () => this.#end('its thread ended'));
  }

  /** Reads what was recorded since the last look. */
  async look(): Promise<void> {
    await this.#ask({ type: 'look', id: ++this.#ids });
  }

  async seek(ms: number): Promise<ReplayScreenAt> {
    return screenAtSchema.parse(await this.#ask({ type: 'seek', id: ++this.#ids, ms }));
  }

  async read(from: ReplayPlace): Promise<ReplayPiece> {
    return pieceSchema.parse(await this.#ask({ type: 'read', id: ++this.#ids, from }));
  }

  dispose(): void {
    this.#end('it is closed');
  }

  #ask(request: ThreadRequest): Promise<unknown> {
    if (this.#over !== undefined) return Promise.reject(unreadable(this.#over));
    if (this.#waiting.size >= MAX_WAITING) return Promise.reject(unreadable('too much was asked at once'));
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  #received(data: unknown): void {
    const message = threadMessageSchema.parse(data);
    if (message.type === 'progress') return this.#onProgress(message.progress);
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === 'answer') waiting?.resolve(message.answer);
    else waiting?.reject(unreadable(message.why));
  }

  #end(why: string): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    void this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(unreadable(why));
    this.#waiting.clear();
  }
}

function unreadable(why: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The recording cannot be read: ${why}.`,
    'Open the replay once more; the log of the board has the details.',
  );
}
