import { spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { Duplex } from 'node:stream';
import type { EngineAddress } from './engine-address.js';

export type SshAddress = Extract<EngineAddress, { kind: 'ssh' }>;

/** A host that does not answer must not hold a call for ever. */
const CONNECT_TIMEOUT_SECONDS = 10;
/** Two lost answers in a row end a connection whose other side is gone. */
const ALIVE_INTERVAL_SECONDS = 10;
const ALIVE_COUNT = 2;
/** What `ssh` says about a failed connection is short. */
const MAX_WORDS_CHARS = 2_000;

/**
 * HTTP connections to an engine on another machine, each a run of the user's own `ssh`: so its known hosts, keys, agent and
 * settings count, as they do for the `docker` command. (dockerode's own way knows none of these and trusts any host.)
 */
export class SshConnections extends Agent {
  readonly #command: readonly [string, ...string[]];

  /** `program` is `ssh`, with arguments before the bridge's own if need be. */
  constructor(address: SshAddress, program: readonly [string, ...string[]] = ['ssh']) {
    super({ keepAlive: true, maxFreeSockets: 2 });
    this.#command = [...program, ...sshArguments(address)];
  }

  override createConnection(): Duplex {
    return new SshConnection(this.#command);
  }
}

/** The arguments after `ssh`; the host is behind `--`, so it is never taken for an option. */
export function sshArguments({ host, port, user }: SshAddress): string[] {
  return [
    '-T',
    ...['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${CONNECT_TIMEOUT_SECONDS}`],
    ...['-o', `ServerAliveInterval=${ALIVE_INTERVAL_SECONDS}`, '-o', `ServerAliveCountMax=${ALIVE_COUNT}`],
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...['--', host, 'docker', 'system', 'dial-stdio'],
  ];
}

/** The two pipes of one `ssh` as what Node's HTTP takes for a socket. */
class SshConnection extends Duplex {
  readonly #child;
  #words = '';

  constructor(command: readonly [string, ...string[]]) {
    super({ allowHalfOpen: true });
    const [program, ...args] = command;
    // The user's whole environment, as the `docker` command passes it: ssh reads HOME and SSH_AUTH_SOCK.
    const child = spawn(program, args, { stdio: 'pipe' });
    this.#child = child;
    child.stdout.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) child.stdout.pause();
    });
    child.stdout.on('end', () => {
      if (this.#words === '') this.push(null);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(0, MAX_WORDS_CHARS);
    });
    // A broken pipe of a program that has ended: its end is what is reported.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => this.destroy(error));
    child.on('close', (code) => {
      const words = this.#words.trim();
      if (code === 0 || this.readableEnded) this.push(null);
      else this.destroy(new Error(words === '' ? `ssh ended with code ${code}` : `ssh: ${words}`));
    });
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#child.stdin.write(bytes, (error) => done(error));
  }

  override _final(done: () => void): void {
    this.#child.stdin.end();
    done();
  }

  override _destroy(error: Error | null, done: (fault: Error | null) => void): void {
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.kill();
    done(error);
  }

  // What Node asks of a socket and a pipe has no use for.
  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    this.#child.ref();
    return this;
  }

  unref(): this {
    this.#child.unref();
    return this;
  }
}
