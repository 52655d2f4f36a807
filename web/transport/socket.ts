import type { ClientMessage, ServerMessage } from '../../src/board/protocol.js';
import { isServerMessage, type ConnectionState, type Transport } from './transport.js';

const TOKEN_KEY = 'board-token';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
const NOT_LET_IN =
  'The board does not let this page in: its link was used before, is too old, or 20 newer ones wait; or all open pages were shut out.';
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
    if (this.#retry === undefined) this.#state({ how: 'connecting' });
    let token: string | undefined;
    try {
      token = await tokenOfPage();
    } catch {
      // The board does not answer now.
      this.#retryLater();
      return;
    }
    if (token === undefined) {
      this.#state({ how: 'refused', why: NOT_LET_IN });
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/socket`);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onopen = () => this.#send({ type: 'hello', v: 1, token, client: browserName() });
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof ArrayBuffer) this.#frame(data);
      else if (typeof data === 'string') this.#received(data);
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#retryLater();
    };
  }

  #received(text: string): void {
    const message: unknown = JSON.parse(text);
    if (!isServerMessage(message)) return;
    if (message.type === 'welcome') {
      this.#retryMs = FIRST_RETRY_MS;
      this.#state({ how: 'open' });
    }
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

/** The token for the code of the link, else the one of this tab, if the board has it. Rejects when no board answers. */
async function tokenOfPage(): Promise<string | undefined> {
  const [, code, task] = /^#code=([\w-]+)(?:&task=(task_[0-9a-f]{20}))?$/.exec(location.hash) ?? [];
  if (code !== undefined) {
    history.replaceState(null, '', location.pathname);
    // The page follows its address.
    if (task !== undefined) location.hash = `#/${task}`;
    const { token } = await ask({ code });
    if (typeof token === 'string') sessionStorage.setItem(TOKEN_KEY, token);
  }
  const token = sessionStorage.getItem(TOKEN_KEY) ?? undefined;
  return token !== undefined && (await isOurBoard(token)) ? token : undefined;
}

/** Between two boards another program may have their port: a token is shown only to one that has it. */
async function isOurBoard(token: string): Promise<boolean> {
  const nonce = crypto.randomUUID();
  const { proof } = await ask({ nonce });
  if (typeof proof !== 'string') throw new Error('This is no board.');
  const hash = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytesOf(token), hash, false, ['verify']);
  const shown = Uint8Array.from(atob(proof), (character) => character.charCodeAt(0));
  return crypto.subtle.verify('HMAC', key, shown, bytesOf(`${location.port} ${nonce}`));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** What the board answers; nothing for what it refuses. */
async function ask(body: object): Promise<{ readonly token?: unknown; readonly proof?: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/token', { method: 'POST', headers, body: JSON.stringify(body) });
  const answer: unknown = response.ok ? await response.json() : undefined;
  return typeof answer === 'object' && answer !== null ? answer : {};
}

function browserName(): string {
  return BROWSERS.find(([, pattern]) => pattern.test(navigator.userAgent))?.[0] ?? 'browser';
}
