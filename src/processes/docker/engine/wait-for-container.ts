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
  readonly abortSignal?: AbortSignal;
}

/** What of docker-modem is used; dockerode's types leave it open. */
const modemSchema = z.custom<{
  dial(options: Dial, done: (error: Error | null, body: unknown) => void): void;
}>((value) => typeof value === 'object' && value !== null && 'dial' in value);

const answerSchema = z.object({ StatusCode: z.number() });

/**
 * The exit code when the container runs no more or, by `condition`, at its next exit or when it has been removed; undefined when
 * the engine tells none. Rejects when the connection is cut or `signal` aborts: dockerode's own `wait` never settles when an engine
 * dies, since it looks only for the end of an answer that has begun.
 */
export async function waitForContainer(
  client: EngineClient,
  containerId: string,
  signal?: AbortSignal,
  condition?: 'next-exit' | 'removed',
): Promise<number | undefined> {
  const body = await new Promise<Readable>((resolve, reject) => {
    modemSchema.parse(client.modem).dial(
      {
        path: `/containers/${containerId}/wait?`,
        method: 'POST',
        isStream: true,
        statusCodes: { 200: true, 400: 'bad parameter', 404: 'no such container', 500: 'server error' },
        // They become the query.
        options: condition === undefined ? {} : { condition },
        ...(signal === undefined ? {} : { abortSignal: signal }),
      },
      (error, answer) => {
        if (error !== null) reject(error);
        else if (answer instanceof Readable) resolve(answer);
        else reject(new Error('The engine gave no answer to wait for.'));
      },
    );
  });
  const stop = (): void => void body.destroy(new Error('aborted'));
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const words = await text(body);
    const answer = answerSchema.safeParse(words.trim() === '' ? undefined : JSON.parse(words));
    return answer.success ? answer.data.StatusCode : undefined;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
