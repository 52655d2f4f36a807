import type { ClientMessage, ServerMessage } from '../../src/board/protocol.js';
import type { ConnectionState, Transport } from './transport.js';

const TOKEN_KEY = 'board-token';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** The board closes a connection with this code when it does not want this page. */
const REFUSED = 1008;
const BROWSERS = [
  ['firefox', /firefox/i],
  ['edge', /edg\//i],
  ['chrome', /chrom/i],
  ['safari', /safari/i],
] as const;

/** The page's WebSocket. A lost connection is opened again, with the token of this tab. */
export class SocketTransport implements Transport {
  #message: (message: ServerMessage) => void = () => undefined;
  #frame: (frame: ArrayBuffer) => void = () => undefined;
  #state: (state: ConnectionState) => void = () => undefined;
  #socket: WebSocket | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;

  onMessage(listener: (message: ServerMessage) => void): void {
    this.#message = listener;
  }

  onFrame(listener: (frame: ArrayBuffer) => void): void {
    this.#frame = listener;
  }

  onState(listener: (state: ConnectionState) => void): void {
    this.#state = listener;
  }

  start(): void {
    // A new link that is opened in this tab: the browser loads nothing by itself, since only the fragment differs.
    addEventListener('hashchange', () => {
      if (!location.hash.startsWith('#code=')) return;
      // A try that comes due before the page is gone would take its code.
      clearTimeout(this.#retry);
      location.reload();
    });
    void this.#open();
  }

  subscribe(channel: string, since: number | undefined): void {
    this.#send({ type: 'subscribe', channel, ...(since !== undefined && { since }) });
  }

  unsubscribe(channel: string): void {
    this.#send({ type: 'unsubscribe', channel });
  }

  dispatch(id: number, action: Extract<ClientMessage, { type: 'dispatch' }>['action']): void {
    this.#send({ type: 'dispatch', id, action });
  }

  acknowledge(channel: string, bytes: number): void {
    this.#send({ type: 'term.ack', channel, bytes });
  }

  async #open(): Promise<void> {
    this.#state({ how: 'connecting' });
    let token: string | undefined;
    try {
      token = await tokenOfPage();
    } catch {
      // The board does not answer now.
      this.#retryLater();
      return;
    }
    if (token === undefined) {
      this.#state({ how: 'refused', why: 'This link was used before, is too old, or 20 newer ones wait.' });
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/socket`);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onopen = () => {
      this.#retryMs = FIRST_RETRY_MS;
      this.#send({ type: 'hello', v: 1, token, client: browserName() });
    };
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof ArrayBuffer) this.#frame(data);
      else if (typeof data === 'string') this.#received(data);
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      if (code === REFUSED) {
        sessionStorage.removeItem(TOKEN_KEY);
        this.#state({ how: 'refused', why: 'The board was restarted since this page was opened.' });
      } else this.#retryLater();
    };
  }

  #received(text: string): void {
    const message: unknown = JSON.parse(text);
    if (!isServerMessage(message)) return;
    if (message.type === 'welcome') this.#state({ how: 'open' });
    this.#message(message);
  }

  #retryLater(): void {
    this.#state({ how: 'lost', retryAtMs: Date.now() + this.#retryMs });
    this.#retry = setTimeout(() => void this.#open(), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** The token of this tab, or the one that the code of the link is exchanged for. Rejects when the board does not answer. */
async function tokenOfPage(): Promise<string | undefined> {
  const [, code, task] = /^#code=([\w-]+)(?:&task=(task_[0-9a-f]{20}))?$/.exec(location.hash) ?? [];
  if (code === undefined) return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
  history.replaceState(null, '', location.pathname);
  // The page follows its address.
  if (task !== undefined) location.hash = `#/${task}`;
  const response = await fetch('/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const answer: unknown = response.ok ? await response.json() : undefined;
  if (typeof answer === 'object' && answer !== null && 'token' in answer && typeof answer.token === 'string')
    sessionStorage.setItem(TOKEN_KEY, answer.token);
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** The board's process and its page are of one version: the kind of a message is all there is to check. */
function isServerMessage(value: unknown): value is ServerMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function browserName(): string {
  return BROWSERS.find(([, pattern]) => pattern.test(navigator.userAgent))?.[0] ?? 'browser';
}
