import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { onTestFinished } from 'vitest';

/** Where the engine of the tests is. */
export const engineHost = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';

export interface RelayOptions {
  /** What containers print comes so many milliseconds late, as from a busy engine. */
  readonly lateMs?: number;
  /** The engine's machine has no `ps`, by which engines list processes. */
  readonly hasNoPs?: boolean;
  /** What the first lists of processes are answered with instead: the words of an error, or a list. */
  readonly lists?: readonly (string | { readonly Titles: readonly string[]; readonly Processes: null })[];
}

/** The words of a real engine. */
const NO_PS = 'ps: exec: "ps": executable file not found in $PATH';

function answerOf(list: NonNullable<RelayOptions['lists']>[number]): string {
  const [status, value] =
    typeof list === 'string' ? ['500 Internal Server Error', { message: list }] : ['200 OK', list];
  const body = JSON.stringify(value);
  const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`;
  return `HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`;
}

/** A way to the engine that a test can cut and open again: what is behind it goes on. */
export class EngineRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: string, { lateMs = 0, hasNoPs = false, lists = [] }: RelayOptions) {
    const left = [...lists];
    const forward = (near: Socket): void => {
      if (this.#isCut) {
        near.resetAndDestroy();
        return;
      }
      const far = connect({ path: target, allowHalfOpen: true });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
        socket.on('error', () => undefined);
      }
      near.once('data', (chunk: Buffer) => {
        // Each request has a connection of its own.
        const request = chunk.toString('latin1');
        const list = /\/top[? ]/.test(request) ? (left.shift() ?? (hasNoPs ? NO_PS : undefined)) : undefined;
        if (list !== undefined) {
          near.end(answerOf(list));
          return;
        }
        far.write(chunk);
        near.pipe(far);
        if (lateMs > 0 && request.includes('/attach?')) far.pipe(laterBy(lateMs)).pipe(near);
        else far.pipe(near);
      });
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    };
    // Both ways end on their own: input may be over long before output.
    this.#server = createServer({ allowHalfOpen: true }, forward);
  }

  /** For the engine at a Unix socket; closed when the test is over. */
  static async open(host: string, options: RelayOptions = {}): Promise<EngineRelay> {
    const relay = new EngineRelay(host.replace(/^unix:\/\//, ''), options);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      relay.cut();
      relay.#server.close();
    });
    return relay;
  }

  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The relay does not listen.');
    return `tcp://127.0.0.1:${address.port}`;
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isCut = false;
  }
}

/** Passes on the head of the answer at once, and each later piece so many milliseconds after it came. */
function laterBy(lateMs: number): Transform {
  let isHead = true;
  return new Transform({
    transform(chunk, _encoding, done) {
      if (isHead) done(null, chunk);
      else setTimeout(() => done(null, chunk), lateMs);
      isHead = false;
    },
  });
}
