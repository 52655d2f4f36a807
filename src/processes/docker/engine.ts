import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { inspect } from 'node:util';
import type Dockerode from 'dockerode';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { lazily, type Disposable } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import { findEngine, type EnginePlace, type EngineSettings } from './find-engine.js';

/** Starting a container takes 0.4 s on an idle machine and some seconds on a busy one. */
const CALL_LIMIT_MS = 30_000;
const SHOWN_CHARS = 400;

interface Connection {
  readonly place: EnginePlace;
  readonly client: Dockerode;
  readonly agent: HttpAgent;
}

/** The one connection to a Docker engine. Nothing is opened or loaded before the first call. */
export class DockerEngine implements Disposable {
  readonly clock: Clock;
  readonly #connect: () => Promise<Connection>;
  #agent: HttpAgent | undefined;

  constructor({ settings, clock }: { readonly settings: EngineSettings; readonly clock: Clock }) {
    this.clock = clock;
    // What failed is tried again: an engine may be started meanwhile.
    this.#connect = lazily(async () => {
      const connection = await connect(settings);
      this.#agent = connection.agent;
      return connection;
    });
  }

  /** Where it is. Throws DOCKER_UNAVAILABLE when that is not known. */
  async place(): Promise<EnginePlace> {
    return (await this.#connect()).place;
  }

  /**
   * Asks the engine `what` ("to start a container"), for at most `limitMs`, Infinity for no limit; then `signal` aborts. Throws
   * DOCKER_UNAVAILABLE when it does not answer, and SPAWN_FAILED when it refuses: `refusalStatus` gives its HTTP status. Any other
   * error of `ask` is thrown on.
   */
  async call<T>(
    what: string,
    ask: (client: Dockerode, signal: AbortSignal) => Promise<T>,
    limitMs = CALL_LIMIT_MS,
  ): Promise<T> {
    const { client, place } = await this.#connect();
    const limit = new AbortController();
    try {
      const asked = ask(client, limit.signal).then((value) => ({ value }));
      const answer = await (limitMs === Infinity ? asked : withinMs(this.clock, limitMs, asked));
      if (answer !== undefined) return answer.value;
    } catch (thrown) {
      if (statusOf(thrown) !== undefined) throw refused(place, what, thrown);
      throw isConnectionFault(thrown) ? noAnswer(place, wordsOf(thrown), thrown) : thrown;
    }
    limit.abort();
    throw noAnswer(place, `no answer within ${limitMs / 1000} s`);
  }

  /** Closes its connections; the next call opens new ones. */
  dispose(): void {
    this.#agent?.destroy();
  }
}

/** The HTTP status with which an engine refused a call (404: no such thing, 409: not in this state); undefined for other errors. */
export function refusalStatus(error: unknown): number | undefined {
  return error instanceof BridgeError ? statusOf(error.cause) : undefined;
}

async function connect(settings: EngineSettings): Promise<Connection> {
  const place = await findEngine(settings);
  const { default: Client } = await import('dockerode');
  // A connection that is stored for reuse may be dead after the engine was restarted.
  const options = { keepAlive: false };
  const agent = place.access.protocol === 'https' ? new HttpsAgent(options) : new HttpAgent(options);
  // docker-modem 5 writes out every request for its log, whether or not there is one, with the agent and all that hangs on each of
  // its open sockets: with fifty containers that takes a second of the processor for each request.
  Object.defineProperty(agent, inspect.custom, { value: () => 'the connections to the engine' });
  const access = { ...place.access, agent, timeout: 0 };
  try {
    return { place, agent, client: new Client(access) };
  } catch (thrown) {
    throw new BridgeError(
      'DOCKER_UNAVAILABLE',
      `The Docker engine at ${place.words} cannot be asked: ${messageOf(thrown)}.`,
      `Ask the user to look at its certificates (ca.pem, cert.pem and key.pem), or ${place.remedy}.`,
      { cause: thrown },
    );
  }
}

/** The system refused or cut the connection; one that Node lost itself has no code. */
function isConnectionFault(thrown: unknown): boolean {
  if (thrown instanceof BridgeError) return false;
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

function refused(place: EnginePlace, what: string, cause: unknown): BridgeError {
  return new BridgeError(
    'SPAWN_FAILED',
    `The Docker engine at ${place.words} refused ${what}: ${wordsOf(cause)}`,
    'Change what the message names, or ask the user to.',
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
  return oneLine(
    messageOf(thrown)
      .replace(/^\(HTTP code \d+\) .*? - /, '')
      .trim(),
    SHOWN_CHARS,
  );
}
