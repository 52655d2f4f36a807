import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where the engine of the tests is. */
export const engineHost = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';

/** A way to the engine that a test can cut and open again: what is behind it goes on. */
export class EngineRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: string) {
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
      near.pipe(far).pipe(near);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    };
    // Both ways end on their own: input may be over long before output.
    this.#server = createServer({ allowHalfOpen: true }, forward);
  }

  /** For the engine at a Unix socket; closed when the test is over. */
  static async open(host: string): Promise<EngineRelay> {
    const relay = new EngineRelay(host.replace(/^unix:\/\//, ''));
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
