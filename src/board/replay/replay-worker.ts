// Worker thread that reads one recording, so that the board goes on meanwhile. See recording-thread.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.js';
import { RecordingIndex } from './recording-index.js';
import {
  threadDataSchema,
  threadRequestSchema,
  type ThreadMessage,
  type ThreadRequest,
} from './replay-messages.js';

/** A page needs no more often how far a recording was read. */
const TELL_EVERY_MS = 100;

const index = new RecordingIndex(threadDataSchema.parse(workerData).path);
let toldMs = 0;
let toldPauses = 0;

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}

function tell(): void {
  toldMs = performance.now();
  const { pauses, ...progress } = index.progress;
  const added = pauses.slice(toldPauses).map(([from, to]): [number, number] => [from, to]);
  toldPauses = pauses.length;
  send({ type: 'progress', progress: { ...progress, pauses: added } });
}

async function look(): Promise<undefined> {
  await index.look(() => {
    if (performance.now() - toldMs >= TELL_EVERY_MS) tell();
  });
  tell();
  return undefined;
}

function answerTo(request: ThreadRequest): Promise<unknown> {
  switch (request.type) {
    case 'look':
      return look();
    case 'seek':
      return index.seek(request.ms);
    case 'read':
      return index.read(request.from);
  }
}

async function handle(request: ThreadRequest): Promise<void> {
  const { id } = request;
  try {
    send({ type: 'answer', id, answer: await answerTo(request) });
  } catch (error) {
    send({ type: 'failed', id, why: messageOf(error) });
  }
}

parentPort?.on('message', (message: unknown) => void handle(threadRequestSchema.parse(message)));
