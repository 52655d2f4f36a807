import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { MAX_SETTINGS_BYTES, readRegularFile } from '../../base/files/regular-file.js';

/** How dockerode reaches an engine: all that it would read from the environment otherwise is given, but for the certificates. */
export type EngineAccess =
  | { readonly host: ''; readonly protocol: 'http'; readonly socketPath: string }
  | { readonly host: string; readonly protocol: 'http' | 'https'; readonly port: number };

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

/** An engine, and why it is this one. */
export interface EnginePlace {
  readonly access: EngineAccess;
  /** False when the engine's files are not this machine's, so that a folder of this machine cannot be mounted. */
  readonly isLocal: boolean;
  /** Such as `unix:///run/docker.sock (DOCKER_HOST)`. */
  readonly words: string;
  /** What a person does to have another engine. */
  readonly remedy: string;
}

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;
/** The names of this very machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
/** The context without a file: what there would be without contexts. */
const NO_CONTEXT: readonly string[] = ['default', ''];

const configSchema = z.looseObject({ currentContext: z.string().default('') });
const contextSchema = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string().min(1) }) }),
});

/**
 * The engine that `DOCKER_HOST` names, else the context of `DOCKER_CONTEXT`, else the current context of the `docker` command,
 * else the one at the first usual socket that is there. What was named is never passed over: DOCKER_UNAVAILABLE says what is
 * wrong with it.
 */
export async function findEngine({
  host,
  tlsVerify,
  context,
  configDir,
  sockets,
}: EngineSettings): Promise<EnginePlace> {
  if (host !== null) return placeOf(host, 'DOCKER_HOST', 'to correct DOCKER_HOST', tlsVerify);
  if (context !== null && !NO_CONTEXT.includes(context)) {
    const by = {
      file: 'DOCKER_CONTEXT',
      remedy: 'to set DOCKER_CONTEXT to another context (`docker context ls`)',
    };
    return inContext(configDir, context, by);
  }
  const file = join(configDir, 'config.json');
  const current = context ?? (await currentContext(file));
  if (!NO_CONTEXT.includes(current)) {
    const remedy = 'to choose another context (`docker context ls`): `docker context use`';
    return inContext(configDir, current, { file, remedy });
  }
  const remedy = 'to set DOCKER_HOST or choose a Docker context';
  for (const path of sockets) {
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isSocket() === true) return placeOf(`unix://${path}`, 'a usual socket', remedy, false);
  }
  throw unavailable(
    `No Docker engine was found: neither DOCKER_HOST nor a Docker context names one, and none of the usual sockets is there (${sockets.join(', ')}).`,
    `Ask the user to start Docker, or ${remedy}, and to restart the server.`,
  );
}

async function currentContext(file: string): Promise<string> {
  try {
    return configSchema.parse((await readJson(file)) ?? {}).currentContext;
  } catch (thrown) {
    throw unavailable(
      `The current Docker context is not known: ${file} cannot be read (${faultWords(thrown)}).`,
      'Ask the user to correct this file, or to name the engine in DOCKER_HOST or DOCKER_CONTEXT and restart the server.',
    );
  }
}

/** `by` names the context. */
async function inContext(
  configDir: string,
  name: string,
  by: { readonly file: string; readonly remedy: string },
): Promise<EnginePlace> {
  const folder = createHash('sha256').update(name).digest('hex');
  const file = join(configDir, 'contexts', 'meta', folder, 'meta.json');
  const context = `the Docker context ${JSON.stringify(name)}`;
  let host: string;
  try {
    const written = await readJson(file);
    if (written === undefined) throw new Error('there is no such file');
    host = contextSchema.parse(written).Endpoints.docker.Host;
  } catch (thrown) {
    throw unavailable(
      `${by.file} names ${context}, which cannot be read from ${file}: ${faultWords(thrown)}.`,
      `Ask the user to make it with \`docker context create\`, or ${by.remedy}, then to restart the server.`,
    );
  }
  const hasCertificates = existsSync(join(configDir, 'contexts', 'tls', folder));
  const place = placeOf(host, context, by.remedy, hasCertificates);
  if (place.access.protocol === 'http') return place;
  throw unavailable(
    `The Docker engine at ${place.words} speaks TLS, and the bridge does so for DOCKER_HOST alone.`,
    `Ask the user to set DOCKER_HOST=${host}, DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, and to restart the server.`,
  );
}

/**
 * Reads `unix:///path`, `tcp://host:port`, `host:port` and `http(s)://host:port`, which `name` gave. TLS is spoken where it
 * `isTlsAsked`, with https, and at Docker's port for it. dockerode's own ssh accepts the key of any host, so an attacker between
 * could be the engine: refused.
 */
function placeOf(text: string, name: string, toAnother: string, isTlsAsked: boolean): EnginePlace {
  const found = `The address of the Docker engine (${name}) cannot be used: found ${JSON.stringify(text)}`;
  const remedy = `${toAnother}, then to restart the server`;
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined)
    return {
      access: { host: '', protocol: 'http', socketPath: path },
      isLocal: true,
      words: `unix://${path} (${name})`,
      remedy,
    };
  const written = /^[\w.-]+:\d+$/.test(text) ? `tcp://${text}` : text;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url?.protocol === 'ssh:') {
    throw unavailable(
      `${found}, and the bridge opens no ssh connections.`,
      `Ask the user to forward the engine's socket: \`ssh -N -L /tmp/docker.sock:/var/run/docker.sock ${text}\`, ` +
        'to set DOCKER_HOST=unix:///tmp/docker.sock, and to restart the server. Folders of this machine cannot be mounted then.',
    );
  }
  if (url === undefined || url.hostname === '' || !['tcp:', 'http:', 'https:'].includes(url.protocol))
    throw unavailable(`${found}, expected "unix:///path" or "tcp://host:port".`, `Ask the user ${remedy}.`);
  const isTls = isTlsAsked || url.protocol === 'https:' || url.port === `${TLS_PORT}`;
  const port = url.port === '' ? (isTls ? TLS_PORT : PLAIN_PORT) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const words = `${isTls ? 'https' : 'tcp'}://${host}:${port} (${name})`;
  const access = { host, protocol: isTls ? 'https' : 'http', port } as const;
  return { access, isLocal: LOOPBACK.test(host), words, remedy };
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
