import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { EngineClient } from './docker-engine.js';

interface Dial {
  readonly path: string;
  readonly method: 'POST';
  readonly isStream: true;
  readonly statusCodes: Readonly<Record<number, true | string>>;
  readonly options: Readonly<Record<string, string>>;
  readonly abortSignal: AbortSignal;
}

/** What of docker-modem is used; dockerode's types leave it open. */
const modemSchema = z.custom<{
  dial(options: Dial, done: (fault: Error | null, body: unknown) => void): void;
}>((value) => typeof value === 'object' && value !== null && 'dial' in value);

/**
 * Resolves when the container runs no more. Rejects when the connection is cut or `signal` aborts: dockerode's own `wait` never
 * settles when an engine dies, since it looks only for the end of an answer that has begun.
 */
export async function waitForContainer(
  client: EngineClient,
  containerId: string,
  signal: AbortSignal,
): Promise<void> {
  const body = await new Promise<Readable>((resolve, reject) => {
    modemSchema.parse(client.modem).dial(
      {
        path: `/containers/${containerId}/wait?`,
        method: 'POST',
        isStream: true,
        statusCodes: { 200: true, 400: 'bad parameter', 404: 'no such container', 500: 'server error' },
        options: {},
        abortSignal: signal,
      },
      (fault, answer) => {
        if (fault !== null) reject(fault);
        else if (answer instanceof Readable) resolve(answer);
        else reject(new Error('The engine gave no answer to wait for.'));
      },
    );
  });
  const stop = (): void => void body.destroy(new Error('aborted'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await text(body);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
