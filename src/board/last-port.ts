import { systemCodeOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { lastPortSchema } from './board-place.js';

/**
 * Starts a board at the port of the last one where that is free, so that pages of it go on; else at any free port. A port that was
 * asked for is taken as it is. Rejects as `start` does.
 */
export async function atLastPort<T extends { readonly port: number }>(
  portFile: string,
  wanted: number,
  start: (port: number) => Promise<T>,
): Promise<T> {
  const started = await startAt(await lastPort(portFile, wanted), wanted, start);
  await writeJsonFileAtomically(portFile, { port: started.port }, { durable: false });
  return started;
}

async function startAt<T>(port: number, wanted: number, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(port);
  } catch (error) {
    if (port === wanted || systemCodeOf(error) !== 'EADDRINUSE') throw error;
    return start(wanted);
  }
}

async function lastPort(portFile: string, wanted: number): Promise<number> {
  if (wanted !== 0) return wanted;
  const read = await readJsonFile(portFile, lastPortSchema);
  return read.state === 'ok' ? read.value.port : 0;
}
