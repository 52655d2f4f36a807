// Pure: where the Docker engine is, from the words that the `docker` command reads too.
import { posix } from 'node:path';

/** A place where an engine listens. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly isTls: boolean };

export interface EngineSettings {
  /** As `DOCKER_HOST` is written; null when it names none. */
  readonly host: string | null;
  /** Folder with `ca.pem`, `cert.pem` and `key.pem`, for `host`. */
  readonly certPath: string | null;
  readonly tlsVerify: boolean;
  /** The context that `DOCKER_CONTEXT` names. */
  readonly context: string | null;
  /** Where the `docker` command has its settings and contexts. */
  readonly configDir: string;
  /** Sockets that are looked for when nothing names an engine, in this order. */
  readonly sockets: readonly string[];
}

export type ParsedAddress =
  | { readonly kind: 'address'; readonly address: EngineAddress }
  /** What was found and what would be right; `hint` where that is another way than correcting it. */
  | { readonly kind: 'fault'; readonly words: string; readonly hint?: string };

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;
/** The names of this very machine, as an address writes them. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Of a system's engine, Docker Desktop, rootless Docker, Colima, Rancher Desktop and Podman. */
export function usualSockets(homeDir: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const below = (folder: string | undefined, ...paths: string[]) =>
    folder === undefined || folder === '' ? [] : paths.map((path) => posix.join(folder, path));
  const runtimeDir = env['XDG_RUNTIME_DIR'];
  return [
    '/var/run/docker.sock',
    ...below(homeDir, '.docker/run/docker.sock', '.docker/desktop/docker.sock'),
    ...below(runtimeDir, 'docker.sock'),
    ...below(homeDir, '.colima/default/docker.sock', '.rd/docker.sock'),
    ...below(runtimeDir, 'podman/podman.sock'),
    ...below(homeDir, '.local/share/containers/podman/machine/podman.sock'),
    ...below(env['TMPDIR'], 'podman/podman-machine-default-api.sock'),
  ];
}

/**
 * Reads `unix:///path`, `tcp://host:port`, `host:port` and `http(s)://host:port`. TLS is spoken where it `isAsked`, with https,
 * and at Docker's port for it.
 */
export function parseEngineAddress(text: string, isAsked: boolean): ParsedAddress {
  const isUnix = /^unix:\/\/(\/.+)$/.exec(text);
  if (isUnix?.[1] !== undefined) return { kind: 'address', address: { kind: 'socket', path: isUnix[1] } };
  const written = /^[\w.-]+:\d+$/.test(text) ? `tcp://${text}` : text;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || url.hostname === '') return fault(text);
  if (url.protocol === 'ssh:') return sshFault(text, url);
  if (!['tcp:', 'http:', 'https:'].includes(url.protocol)) return fault(text);
  const port = url.port === '' ? undefined : Number(url.port);
  const isTls = isAsked || url.protocol === 'https:' || port === TLS_PORT;
  const address: EngineAddress = {
    kind: 'tcp',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: port ?? (isTls ? TLS_PORT : PLAIN_PORT),
    isTls,
  };
  return { kind: 'address', address };
}

/** False when the engine's files are not this machine's, so that a folder of this machine cannot be mounted. */
export function isLocal(address: EngineAddress): boolean {
  return address.kind === 'socket' || LOOPBACK.test(address.host) || address.host === '::1';
}

/** The address as a person reads it, such as `unix:///var/run/docker.sock`. */
export function addressText(address: EngineAddress): string {
  if (address.kind === 'socket') return `unix://${address.path}`;
  return `${address.isTls ? 'https' : 'tcp'}://${address.host}:${address.port}`;
}

function fault(text: string): ParsedAddress {
  const right = '"unix:///path" or "tcp://host:port"';
  return { kind: 'fault', words: `found ${JSON.stringify(text)}, expected ${right}` };
}

/** dockerode's own ssh accepts the key of any host, so an attacker between could be the engine. */
function sshFault(text: string, { username, host }: URL): ParsedAddress {
  const target = username === '' ? host : `${username}@${host}`;
  return {
    kind: 'fault',
    words: `found ${JSON.stringify(text)}, and the bridge opens no ssh connections`,
    hint:
      `Ask the user to forward the engine's socket: \`ssh -N -L /tmp/docker.sock:/var/run/docker.sock ssh://${target}\`, ` +
      'to set DOCKER_HOST=unix:///tmp/docker.sock, and to restart the server. Folders of this machine cannot be mounted then.',
  };
}
