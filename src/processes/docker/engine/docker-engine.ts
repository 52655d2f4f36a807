import { access, readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { join } from 'node:path';
import type Dockerode from 'dockerode';
import { sleep, type Clock } from '../../../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../../../base/errors.js';
import { ignoreBridgeError } from '../../../base/ignore-bridge-error.js';
import type { Disposable } from '../../../base/lifecycle.js';
import { oneLine } from '../../../base/text/text.js';
import {
  addressText,
  isLocal,
  parseEngineAddress,
  usualSockets,
  type EngineAddress,
  type EngineSettings,
} from './engine-address.js';
import { loadDockerode } from './load-dockerode.js';
import { SshConnections } from './ssh-connections.js';
import { leaveUnseen } from './unseen-agent.js';

export type EngineClient = Dockerode;

/** What came of a call to the engine. */
export type EngineAnswer<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The engine answered that it cannot, with an HTTP status (404: no such thing, 409: not in this state). */
  | { readonly kind: 'refused'; readonly status: number; readonly words: string }
  /** Nobody answered, or too late: DOCKER_UNAVAILABLE. */
  | { readonly kind: 'unreachable'; readonly fault: BridgeError };

export interface EngineOptions {
  readonly settings: EngineSettings;
  readonly homeDir: string;
  readonly clock: Clock;
  /** `ssh` of the user, with arguments before the bridge's own if need be. */
  readonly sshProgram?: readonly [string, ...string[]];
  readonly load?: typeof loadDockerode;
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

  /** Made once; what failed is tried again: a package may be installed, or an engine started, meanwhile. */
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
  async address(): Promise<EngineAddress> {
    return (await this.#connect()).address;
  }

  /** Whether the engine sees the files of this machine. */
  async isLocal(): Promise<boolean> {
    const address = await this.address().catch(ignoreBridgeError);
    return address !== undefined && isLocal(address);
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
    { client, address }: Connection,
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
      return { kind: 'unreachable', fault: noAnswer(address, `no answer within ${limitMs / 1000} s`) };
    } catch (thrown) {
      const status = statusOf(thrown);
      if (status !== undefined) return { kind: 'refused', status, words: wordsOf(thrown) };
      if (isConnectionFault(thrown))
        return { kind: 'unreachable', fault: noAnswer(address, wordsOf(thrown), thrown) };
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
    const address = await this.#findAddress();
    const Client = await (this.#options.load ?? loadDockerode)();
    try {
      const access = await this.#access(address);
      this.#agent?.destroy();
      this.#agent = access.agent;
      leaveUnseen(access.agent);
      return { address, client: new Client(access) };
    } catch (thrown) {
      throw new BridgeError(
        'DOCKER_UNAVAILABLE',
        `The Docker engine at ${addressText(address)} cannot be asked: ${messageOf(thrown)}.`,
        'Ask the user to look at DOCKER_HOST, and at DOCKER_CERT_PATH: the folder that holds ca.pem, cert.pem and key.pem.',
        { cause: thrown },
      );
    }
  }

  async #findAddress(): Promise<EngineAddress> {
    const { settings, homeDir } = this.#options;
    if (settings.host === null) {
      const sockets = usualSockets(homeDir);
      for (const path of sockets) if (await exists(path)) return { kind: 'socket', path };
      throw new BridgeError(
        'DOCKER_UNAVAILABLE',
        `No Docker engine was found: there is neither ${sockets.join(' nor ')}.`,
        'Ask the user to start Docker, or to set DOCKER_HOST to the address of an engine and restart the server.',
      );
    }
    const parsed = parseEngineAddress(settings.host, settings);
    if (parsed.kind === 'address') return parsed.address;
    throw new BridgeError(
      'DOCKER_UNAVAILABLE',
      `The address of the Docker engine cannot be used: ${parsed.words}.`,
      'Ask the user to correct DOCKER_HOST and to restart the server.',
    );
  }

  /** Explicit where docker-modem would else read the environment: an empty host is none, a time limit of 0 none. */
  async #access(address: EngineAddress) {
    switch (address.kind) {
      case 'socket': {
        const agent = new HttpAgent({ keepAlive: KEEP_CONNECTIONS });
        return { agent, host: '', protocol: 'http', socketPath: address.path, timeout: 0 } as const;
      }
      case 'ssh': {
        const agent = new SshConnections(address, this.#options.sshProgram);
        // The name is never looked up: the connection is a pipe.
        return { agent, host: 'docker', port: 80, protocol: 'http', timeout: 0 } as const;
      }
      case 'tcp': {
        const { host, port, isTls } = address;
        if (!isTls) {
          const agent = new HttpAgent({ keepAlive: KEEP_CONNECTIONS });
          return { agent, host, port, protocol: 'http', timeout: 0 } as const;
        }
        const certificates = await readCertificates(address.certPath);
        const agent = new HttpsAgent({ keepAlive: KEEP_CONNECTIONS, ...certificates });
        return { agent, ...certificates, host, port, protocol: 'https', timeout: 0 } as const;
      }
    }
  }
}

/** An error in the words of a refusal, for a caller that has none of its own. */
export function refusalOf(
  answer: Exclude<EngineAnswer<unknown>, { kind: 'value' }>,
  asked: string,
): BridgeError {
  if (answer.kind === 'unreachable') return answer.fault;
  return new BridgeError(
    'SPAWN_FAILED',
    `The Docker engine refused ${asked}: ${answer.words}`,
    'Change what the message names, or ask the user to.',
  );
}

interface Connection {
  readonly address: EngineAddress;
  readonly client: EngineClient;
}

/** System codes of a connection that could not be made or broke; `ECONNREFUSED` is an engine that was stopped. */
const CONNECTION_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EACCES', 'EPERM', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'],
  ...['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNABORTED', 'EHOSTDOWN', 'ENOTCONN', 'EPROTO'],
]);

function isConnectionFault(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  if (code === undefined)
    return thrown instanceof Error && /^ssh[: ]|socket hang up|aborted/.test(thrown.message);
  return (
    CONNECTION_CODES.has(code) || /^(ERR_SSL|ERR_TLS|HPE_|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/.test(code)
  );
}

function noAnswer(address: EngineAddress, words: string, cause?: unknown): BridgeError {
  const isForbidden = systemCodeOf(cause) === 'EACCES';
  return new BridgeError(
    'DOCKER_UNAVAILABLE',
    `The Docker engine at ${addressText(address)} does not answer: ${words}.`,
    isForbidden
      ? 'Ask the user to let this account use Docker (on Linux: the group docker), then to restart the server.'
      : 'Ask the user to start it, or to correct DOCKER_HOST and restart the server.',
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

async function readCertificates(folder: string | undefined) {
  if (folder === undefined) return {};
  const read = (name: string) => readFile(join(folder, name));
  const [ca, cert, key] = await Promise.all([read('ca.pem'), read('cert.pem'), read('key.pem')]);
  return { ca, cert, key };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
