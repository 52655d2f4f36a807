// Pure: where the Docker engine is, from the words that the `docker` command reads too.
import { posix } from 'node:path';

/** A place where an engine listens. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Folder with `ca.pem`, `cert.pem` and `key.pem`. */
      readonly certPath?: string;
      readonly isTls: boolean;
    }
  | { readonly kind: 'ssh'; readonly host: string; readonly port?: number; readonly user?: string };

export interface EngineSettings {
  /** As `DOCKER_HOST` is written; null for the usual socket of this machine. */
  readonly host: string | null;
  readonly certPath: string | null;
  readonly tlsVerify: boolean;
}

export type ParsedAddress =
  | { readonly kind: 'address'; readonly address: EngineAddress }
  /** What was found and what would be right. */
  | { readonly kind: 'fault'; readonly words: string };

/** Tried in this order: the socket of a system's engine, then that of Docker Desktop in the user's home. */
export function usualSockets(homeDir: string): readonly string[] {
  return ['/var/run/docker.sock', posix.join(homeDir, '.docker/run/docker.sock')];
}

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;
/** The names of this very machine, as an address writes them. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Reads `unix:///path`, `tcp://host:port`, `host:port`, `http(s)://host:port` and `ssh://user@host:port`. */
export function parseEngineAddress(text: string, settings: EngineSettings): ParsedAddress {
  const isUnix = /^unix:\/\/(\/.+)$/.exec(text);
  if (isUnix?.[1] !== undefined) return { kind: 'address', address: { kind: 'socket', path: isUnix[1] } };
  const written = /^[\w.-]+:\d+$/.test(text) ? `tcp://${text}` : text;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || url.hostname === '') return fault(text);
  const port = url.port === '' ? undefined : Number(url.port);
  switch (url.protocol) {
    case 'ssh:':
      return {
        kind: 'address',
        address: {
          kind: 'ssh',
          host: url.hostname,
          ...(port === undefined ? {} : { port }),
          ...(url.username === '' ? {} : { user: decodeURIComponent(url.username) }),
        },
      };
    case 'tcp:':
    case 'http:':
    case 'https:': {
      const isTls = url.protocol === 'https:' || settings.tlsVerify || port === TLS_PORT;
      const address: EngineAddress = {
        kind: 'tcp',
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: port ?? (isTls ? TLS_PORT : PLAIN_PORT),
        isTls,
        ...(settings.certPath === null ? {} : { certPath: settings.certPath }),
      };
      return { kind: 'address', address };
    }
    default:
      return fault(text);
  }
}

/** False when the engine's files are not this machine's, so that a folder of this machine cannot be mounted. */
export function isLocal(address: EngineAddress): boolean {
  switch (address.kind) {
    case 'socket':
      return true;
    case 'tcp':
      return LOOPBACK.test(address.host) || address.host === '::1';
    case 'ssh':
      return false;
  }
}

/** The address as a person reads it, such as `unix:///var/run/docker.sock`. */
export function addressText(address: EngineAddress): string {
  switch (address.kind) {
    case 'socket':
      return `unix://${address.path}`;
    case 'tcp':
      return `${address.isTls ? 'https' : 'tcp'}://${address.host}:${address.port}`;
    case 'ssh':
      return `ssh://${address.user === undefined ? '' : `${address.user}@`}${address.host}${address.port === undefined ? '' : `:${address.port}`}`;
  }
}

function fault(text: string): ParsedAddress {
  const right = '"unix:///path", "tcp://host:port" or "ssh://user@host"';
  return { kind: 'fault', words: `found ${JSON.stringify(text)}, expected ${right}` };
}
