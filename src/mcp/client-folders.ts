// Pure.
import { fileURLToPath } from 'node:url';
import type { Server } from '@modelcontextprotocol/server';

/** A client answers from what it has at hand; a call waits for it. */
const LIMIT_MS = 2_000;

/** The folders that the client works in, as `roots/list` has them. Only clients of the legacy era are asked. */
export class ClientFolders {
  #server: Server | undefined;
  #folders: Promise<readonly string[]> | undefined;

  /** From here on `server` is the connection to the client. */
  connect(server: Server): void {
    const forget = (): void => void (this.#folders = undefined);
    this.#server = server;
    server.setNotificationHandler('notifications/roots/list_changed', forget);
    forget();
  }

  /** Absolute paths; none when the client does not say. It is asked at the first call, and again after a change. */
  list(): Promise<readonly string[]> {
    return (this.#folders ??= this.#ask());
  }

  async #ask(): Promise<readonly string[]> {
    if (this.#server?.getClientCapabilities()?.roots === undefined) return [];
    try {
      const { roots } = await this.#server.listRoots(undefined, { timeout: LIMIT_MS });
      return roots.flatMap(({ uri }) => (uri.startsWith('file://') ? [fileURLToPath(uri)] : []));
    } catch {
      // The client does not answer now: another default counts for this call, and the next one asks again.
      this.#folders = undefined;
      return [];
    }
  }
}
