import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { inspect } from 'node:util';
import type Dockerode from 'dockerode';
import { sleep, type Clock } from '../../../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../../../base/errors.js';
import type { Disposable } from '../../../base/lifecycle.js';
import { oneLine } from '../../../base/text.js';
import { findEngine, type EngineAddress, type EnginePlace, type EngineSettings } from './find-engine.js';

export type EngineClient = Dockerode;

/** What came of a call to the engine. */
export type EngineAnswer<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The engine answered that it cannot, with an HTTP status (404: no such thing, 409: not in this state). */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly words: string;
      /** Which engine. */
      readonly engine: string;
    }
  /** Nobody answered, or too late: DOCKER_UNAVAILABLE. */
  | { readonly kind: 'unreachable'; readonly fault: BridgeError };

export interface EngineOptions {
  readonly settings: EngineSettings;
  readonly clock: Clock;
}

/** Starting a container takes 0.4 s on an idle machine and some seconds on a busy one. */
const CALL_LIMIT_MS = 30_000;
const SHOWN_CHARS = 400;
/** Unix sockets and loopback are cheap to open; a connection kept for reuse may be dead after the engine was restarted. */
const KEEP_CONNECTIONS = false;

/** The one connection to a Docker engine. Nothing is opened or loaded before the first call. */
export class DockerEngine implements Disposable {
  readonly #options: EngineOptions;
  #connecting: Promise<Connection> | undefined;
  #agent: HttpAgent | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Made once; what failed is tried again: an engine may be started meanwhile. */
  async #connect(): Promise<Connection> {
    this.#connecting ??= this.#makeConnection();
    try {
      return await this.#connecting;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }

  /** Where it is. Throws DOCKER_UNAVAILABLE when that is not known. */
  async place(): Promise<EnginePlace> {
    return (await this.#connect()).place;
  }

  /**
   * Asks the engine, for at most `limitMs`; `signal` aborts then, and whoever passes it on lets the request go. An error
   * of the bridge itself is thrown on.
   */
  async call<T>(
    ask: (client: EngineClient, signal: AbortSignal) => Promise<T>,
    limitMs = CALL_LIMIT_MS,
  ): Promise<EngineAnswer<T>> {
    let connection: Connection;
    try {
      connection = await this.#connect();
    } catch (error) {
      if (error instanceof BridgeError) return { kind: 'unreachable', fault: error };
      throw error;
    }
    return this.#ask(connection, ask, limitMs);
  }

  async #ask<T>(
    { client, place }: Connection,
    ask: (client: EngineClient, signal: AbortSignal) => Promise<T>,
    limitMs: number,
  ): Promise<EngineAnswer<T>> {
    const limit = new AbortController();
    const isOver = new AbortController();
    try {
      const asked = ask(client, limit.signal).then((value) => ({ kind: 'value', value }) as const);
      const late = sleep(this.#options.clock, limitMs, isOver.signal).then(() => undefined);
      const answer = await Promise.race([asked, late]);
      if (answer !== undefined) return answer;
      limit.abort();
      return { kind: 'unreachable', fault: noAnswer(place, `no answer within ${limitMs / 1000} s`) };
    } catch (thrown) {
      const status = statusOf(thrown);
      if (status !== undefined)
        return { kind: 'refused', status, words: wordsOf(thrown), engine: place.words };
      if (isConnectionFault(thrown))
        return { kind: 'unreachable', fault: noAnswer(place, wordsOf(thrown), thrown) };
      throw thrown;
    } finally {
      isOver.abort();
    }
  }

  /** Lets go of idle connections; the next call opens new ones. */
  dispose(): void {
    this.#agent?.destroy();
  }

  async #makeConnection(): Promise<Connection> {
    const place = await findEngine(this.#options.settings);
    const { default: Client } = await import('dockerode');
    try {
      const access = accessTo(place.address);
      this.#agent?.destroy();
      this.#agent = access.agent;
      leaveUnseen(access.agent);
      return { place, client: new Client(access) };
    } catch (thrown) {
      throw new BridgeError(
        'DOCKER_UNAVAILABLE',
        `The Docker engine at ${place.words} cannot be asked: ${messageOf(thrown)}.`,
        `Ask the user to look at its certificates (ca.pem, cert.pem and key.pem), or ${place.remedy}.`,
        { cause: thrown },
      );
    }
  }
}

/**
 * Has `inspect` show an agent as a few words. docker-modem 5 writes out every request for its log, whether or not there is one,
 * with the agent and all that hangs on each of its open sockets: with fifty containers that takes a second of the processor
 * for each request.
 */
export function leaveUnseen(agent: HttpAgent): void {
  Object.defineProperty(agent, inspect.custom, { value: () => 'the connections to the engine' });
}

/** Explicit where docker-modem would else read the environment, but for the certificates in `DOCKER_CERT_PATH`: an empty host is none, a time limit of 0 none. */
function accessTo(address: EngineAddress) {
  const keepAlive = KEEP_CONNECTIONS;
  if (address.kind === 'socket') {
    const agent = new HttpAgent({ keepAlive });
    return { agent, host: '', protocol: 'http', socketPath: address.path, timeout: 0 } as const;
  }
  const { host, port, isTls } = address;
  const agent = isTls ? new HttpsAgent({ keepAlive }) : new HttpAgent({ keepAlive });
  return { agent, host, port, protocol: isTls ? 'https' : 'http', timeout: 0 } as const;
}

/** An error in the words of a refusal, for a caller that has none of its own. */
export function refusalOf(
  answer: Exclude<EngineAnswer<unknown>, { kind: 'value' }>,
  asked: string,
): BridgeError {
  if (answer.kind === 'unreachable') return answer.fault;
  return new BridgeError(
    'SPAWN_FAILED',
    `The Docker engine at ${answer.engine} refused ${asked}: ${answer.words}`,
    'Change what the message names, or ask the user to.',
  );
}

interface Connection {
  readonly place: EnginePlace;
  readonly client: EngineClient;
}

/** The system refused or cut the connection; one that Node lost itself has no code. */
function isConnectionFault(thrown: unknown): boolean {
  if (systemCodeOf(thrown) !== undefined) return true;
  return thrown instanceof Error && /socket hang up|aborted/.test(thrown.message);
}

function noAnswer(place: EnginePlace, words: string, cause?: unknown): BridgeError {
  const isForbidden = systemCodeOf(cause) === 'EACCES';
  return new BridgeError(
    'DOCKER_UNAVAILABLE',
    `The Docker engine at ${place.words} does not answer: ${words}.`,
    isForbidden
      ? 'Ask the user to let this account use Docker (on Linux: the group docker), then to restart the server.'
      : `Ask the user to start it, or ${place.remedy}.`,
    { cause },
  );
}

function statusOf(thrown: unknown): number | undefined {
  return thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number'
    ? thrown.statusCode
    : undefined;
}

/** The engine's own sentence, without dockerode's "(HTTP code 404) no such container - " in front of it. */
function wordsOf(thrown: unknown): string {
  const words = messageOf(thrown).replace(/^\(HTTP code \d+\) .*? - /, '');
  return oneLine(words.trim(), SHOWN_CHARS);
}
