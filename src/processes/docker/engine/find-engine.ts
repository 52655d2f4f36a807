import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf } from '../../../base/errors.js';
import { MAX_SETTINGS_BYTES, readRegularFile } from '../../../base/files/regular-file.js';

/** A place where an engine listens. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isTls: boolean };

export interface EngineSettings {
  /** As `DOCKER_HOST` is written; null when it names none. */
  readonly host: string | null;
  readonly tlsVerify: boolean;
  /** The context that `DOCKER_CONTEXT` names. */
  readonly context: string | null;
  /** Where the `docker` command has its settings and contexts. */
  readonly configDir: string;
  /** Sockets that are looked for when nothing names an engine, in this order. */
  readonly sockets: readonly string[];
}

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;
/** The names of this very machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** An engine, and why it is this one. */
export interface EnginePlace {
  readonly address: EngineAddress;
  /** False when the engine's files are not this machine's, so that a folder of this machine cannot be mounted. */
  readonly isLocal: boolean;
  /** Such as `unix:///run/docker.sock (DOCKER_HOST)`. */
  readonly words: string;
  /** What a person does to have another engine. */
  readonly remedy: string;
}

/** A way by which an address was found. */
interface Way {
  readonly name: string;
  readonly remedy: string;
}

/** The context without a file: what there would be without contexts. */
const DEFAULT_CONTEXT = 'default';

const configSchema = z.looseObject({ currentContext: z.string().optional() });
const contextSchema = z.looseObject({
  Endpoints: z.looseObject({
    docker: z.looseObject({ Host: z.string().min(1) }),
  }),
});

/**
 * The engine that `DOCKER_HOST` names, else the context of `DOCKER_CONTEXT`, else the current context of the `docker` command,
 * else the one at the first usual socket that is there. What was named is never passed over: DOCKER_UNAVAILABLE says what is
 * wrong with it.
 */
export async function findEngine(settings: EngineSettings): Promise<EnginePlace> {
  const { host, tlsVerify } = settings;
  if (host !== null) {
    const remedy = 'to correct DOCKER_HOST and restart the server';
    return placeOf(host, { name: 'DOCKER_HOST', remedy }, tlsVerify);
  }
  const context = await contextOf(settings);
  return context === undefined ? atUsualSocket(settings.sockets) : inContext(settings, context);
}

interface NamedContext {
  readonly name: string;
  /** Who names it. */
  readonly by: string;
  readonly remedy: string;
}

async function contextOf({ context, configDir }: EngineSettings): Promise<NamedContext | undefined> {
  const file = join(configDir, 'config.json');
  const another = 'another context (`docker context ls`)';
  const named =
    context === null
      ? { name: await currentContext(file), by: file, remedy: `to choose ${another}: \`docker context use\`` }
      : { name: context, by: 'DOCKER_CONTEXT', remedy: `to set DOCKER_CONTEXT to ${another}` };
  if (named.name === DEFAULT_CONTEXT || named.name === '') return undefined;
  return { ...named, remedy: `${named.remedy}, then to restart the server` };
}

async function currentContext(file: string): Promise<string> {
  try {
    return configSchema.parse((await readJson(file)) ?? {}).currentContext ?? DEFAULT_CONTEXT;
  } catch (thrown) {
    throw unavailable(
      `The current Docker context is not known: ${file} cannot be read (${faultWords(thrown)}).`,
      'Ask the user to correct this file, or to name the engine in DOCKER_HOST or DOCKER_CONTEXT and restart the server.',
    );
  }
}

async function inContext(settings: EngineSettings, { name, by, remedy }: NamedContext): Promise<EnginePlace> {
  const folder = createHash('sha256').update(name).digest('hex');
  const file = join(settings.configDir, 'contexts', 'meta', folder, 'meta.json');
  const context = `the Docker context ${JSON.stringify(name)}`;
  try {
    const written = await readJson(file);
    if (written === undefined) {
      const message = `${by} names ${context}, which does not exist: there is no ${file}.`;
      throw unavailable(message, `Ask the user ${remedy}.`);
    }
    const { Host: host } = contextSchema.parse(written).Endpoints.docker;
    const place = placeOf(
      host,
      { name: context, remedy },
      existsSync(join(settings.configDir, 'contexts', 'tls', folder)),
    );
    if (place.address.kind === 'socket' || !place.address.isTls) return place;
    throw unavailable(
      `The Docker engine at ${place.words} speaks TLS, and the bridge does so for DOCKER_HOST alone.`,
      `Ask the user to set DOCKER_HOST=${host}, DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, and to restart the server.`,
    );
  } catch (thrown) {
    if (thrown instanceof BridgeError) throw thrown;
    const message = `${by} names ${context}, which cannot be read from ${file}: ${faultWords(thrown)}.`;
    throw unavailable(message, `Ask the user to make it again with \`docker context create\`, or ${remedy}.`);
  }
}

async function atUsualSocket(sockets: readonly string[]): Promise<EnginePlace> {
  const remedy = 'to set DOCKER_HOST or choose a Docker context, and restart the server';
  for (const path of sockets) {
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isSocket() !== true) continue;
    return placeOf(`unix://${path}`, { name: 'a usual socket', remedy }, false);
  }
  throw unavailable(
    `No Docker engine was found: neither DOCKER_HOST nor a Docker context names one, and none of the usual sockets is there (${sockets.join(', ')}).`,
    `Ask the user to start Docker, or ${remedy}.`,
  );
}

/**
 * Reads `unix:///path`, `tcp://host:port`, `host:port` and `http(s)://host:port`. TLS is spoken where it `isTlsAsked`, with https,
 * and at Docker's port for it. dockerode's own ssh accepts the key of any host, so an attacker between could be the engine: refused.
 */
function placeOf(text: string, { name, remedy }: Way, isTlsAsked: boolean): EnginePlace {
  const found = `The address of the Docker engine (${name}) cannot be used: found ${JSON.stringify(text)}`;
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined)
    return { address: { kind: 'socket', path }, isLocal: true, words: `unix://${path} (${name})`, remedy };
  const written = /^[\w.-]+:\d+$/.test(text) ? `tcp://${text}` : text;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url?.protocol === 'ssh:' && url.hostname !== '') {
    const target = url.username === '' ? url.host : `${url.username}@${url.host}`;
    throw unavailable(
      `${found}, and the bridge opens no ssh connections.`,
      `Ask the user to forward the engine's socket: \`ssh -N -L /tmp/docker.sock:/var/run/docker.sock ssh://${target}\`, ` +
        'to set DOCKER_HOST=unix:///tmp/docker.sock, and to restart the server. Folders of this machine cannot be mounted then.',
    );
  }
  if (url === undefined || url.hostname === '' || !['tcp:', 'http:', 'https:'].includes(url.protocol))
    throw unavailable(`${found}, expected "unix:///path" or "tcp://host:port".`, `Ask the user ${remedy}.`);
  const isTls = isTlsAsked || url.protocol === 'https:' || url.port === `${TLS_PORT}`;
  const port = url.port === '' ? (isTls ? TLS_PORT : PLAIN_PORT) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    address: { kind: 'tcp', host, port, isTls },
    isLocal: LOOPBACK.test(host),
    words: `${isTls ? 'https' : 'tcp'}://${host}:${port} (${name})`,
    remedy,
  };
}

/** Undefined when there is no such file, null when it is empty. */
async function readJson(file: string): Promise<unknown> {
  const read = await readRegularFile(file, MAX_SETTINGS_BYTES);
  if (read.state === 'missing') return undefined;
  if (read.state === 'refused') throw new Error(read.why);
  const text = read.bytes.toString('utf8').trim();
  return text === '' ? null : JSON.parse(text);
}

/** Never with a part of the file: Docker's settings may hold passwords. */
function faultWords(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'it is not JSON';
  return thrown instanceof z.ZodError ? z.prettifyError(thrown).replaceAll(/\s+/g, ' ') : messageOf(thrown);
}

function unavailable(message: string, hint: string): BridgeError {
  return new BridgeError('DOCKER_UNAVAILABLE', message, hint);
}
