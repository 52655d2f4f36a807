import { isServerMessage, LinkRefused, type OpenLink } from '../../src/board/client.js';
import type { ClientMessage } from '../../src/board/protocol.js';

const TOKEN_KEY = 'board-token';
const NOT_LET_IN =
  'The board does not let this page in: its link was used before or is too old, or all open pages were shut out.';
const BROWSERS = [
  ['firefox', /firefox/i],
  ['edge', /edg\//i],
  ['chrome', /chrom/i],
  ['safari', /safari/i],
] as const;

/** The page's WebSocket, with the token of this tab. */
export const openSocket: OpenLink = async (events) => {
  const token = await tokenOfPage();
  if (token === undefined) throw new LinkRefused(NOT_LET_IN);
  const socket = new WebSocket(`ws://${location.host}/socket`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data instanceof ArrayBuffer) events.frame(new Uint8Array(data));
    const message: unknown = typeof data === 'string' ? JSON.parse(data) : undefined;
    if (isServerMessage(message)) events.message(message);
  };
  const send = (message: ClientMessage): void => socket.send(JSON.stringify(message));
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onclose = () => reject(new Error('The board does not answer.'));
  });
  socket.onclose = () => events.closed('The board has ended.');
  send({ type: 'hello', v: 1, token, client: browserName() });
  return { send, close: () => socket.close() };
};

/** Loads the page again for a new link in this tab: the browser does not, since only the fragment differs. `leave` ends what would take its code. */
export function loadsNewLinks(leave: () => void): void {
  addEventListener('hashchange', () => {
    if (!location.hash.startsWith('#code=')) return;
    leave();
    location.reload();
  });
}

/** The token for the code of the link, else the one of this tab, if the board has it. Rejects when no board answers. */
async function tokenOfPage(): Promise<string | undefined> {
  const [, code, task] =
    /^#code=([\w-]+)(?:&task=((?:[a-z][a-z0-9-]{0,30}\/)?task_[0-9a-f]{20}))?$/.exec(location.hash) ?? [];
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
