// The messages of MCP Apps between this page and the client that shows it: JSON-RPC over `postMessage`.
import { isFields, textIn, type Fields } from '../text/fields.js';

type Handler = (params: Fields) => unknown;

/** A request of ours that takes longer is given up. A call of a tool may wait 40 s at the server. */
const REQUEST_LIMIT_MS = 60_000;
const METHOD_NOT_FOUND = -32601;

/** The client refused a request, or did not answer it. */
export class HostRefusal extends Error {}

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Error) => void;
}

/** The connection to the window around this one. What other windows send is ignored. */
export class JsonRpc {
  readonly #host: Window;
  readonly #handlers = new Map<string, Handler>();
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;

  constructor(host: Window) {
    this.#host = host;
    addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
      if (source === host && isFields(data)) this.#received(data);
    });
  }

  /** What a request or notification of the client calls; a request is answered with what it returns. */
  on(method: string, handler: Handler): void {
    this.#handlers.set(method, handler);
  }

  notify(method: string, params: Fields = {}): void {
    this.#post({ method, params });
  }

  /** Throws HostRefusal, also when `signal` aborts: the client is told then. */
  request(method: string, params: Fields, signal?: AbortSignal): Promise<Fields> {
    const id = ++this.#ids;
    return new Promise<Fields>((resolve, reject) => {
      const leave = (reason: string): void => {
        this.notify('notifications/cancelled', { requestId: id, reason });
        this.#waiting.get(id)?.reject(new HostRefusal(reason));
      };
      const stop = (): void => leave('no longer needed');
      const timer = setTimeout(() => leave('no answer'), REQUEST_LIMIT_MS);
      signal?.addEventListener('abort', stop, { once: true });
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        this.#waiting.delete(id);
      };
      this.#waiting.set(id, {
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error)),
      });
      this.#post({ id, method, params });
    });
  }

  #received(message: Fields): void {
    const { id, method, params, result, error } = message;
    if (typeof method === 'string') {
      this.#handle(method, isFields(params) ? params : {}, id);
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (isFields(error)) waiting?.reject(new HostRefusal(textIn(error, 'message')));
    else waiting?.resolve(isFields(result) ? result : {});
  }

  #handle(method: string, params: Fields, id: unknown): void {
    const handler = this.#handlers.get(method);
    const result = handler?.(params);
    if (id === undefined) return;
    if (handler === undefined)
      this.#post({ id, error: { code: METHOD_NOT_FOUND, message: `${method} is not known here.` } });
    else this.#post({ id, result: isFields(result) ? result : {} });
  }

  /** The client has an origin of its own choice, or none: the window is what it is known by. */
  #post(message: Fields): void {
    this.#host.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }
}
