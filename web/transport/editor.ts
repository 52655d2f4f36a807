import type { EditorAction, PageMessage, PageNews } from '../../src/board/editor-page.js';
import type { ClientAction, ClientMessage, ServerMessage } from '../../src/board/protocol.js';
import type { ConnectionState, Transport } from './transport.js';

/** What VS Code gives to the page of a view (https://code.visualstudio.com/api/extension-guides/webview). */
export interface VsCodeApi {
  postMessage(message: PageMessage): void;
  getState(): unknown;
  setState(state: { readonly task_id: string | null }): void;
}

/** Reaches the board by the extension around the page. */
export class EditorTransport implements Transport {
  readonly #api: VsCodeApi;
  readonly #show: (taskId: string | undefined) => void;
  #message: (message: ServerMessage) => void = () => undefined;
  #state: (state: ConnectionState) => void = () => undefined;

  /** `show` is called when the person asks the editor for a task. */
  constructor(api: VsCodeApi, show: (taskId: string | undefined) => void) {
    this.#api = api;
    this.#show = show;
  }

  onMessage(listener: (message: ServerMessage) => void): void {
    this.#message = listener;
  }

  onFrame(): void {
    // There are none: terminals of tasks are terminals of the editor.
  }

  onState(listener: (state: ConnectionState) => void): void {
    this.#state = listener;
  }

  start(): void {
    this.#state({ how: 'connecting' });
    addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (isNews(data)) this.#received(data);
    });
    this.connect(false);
  }

  /** Connects now, and does not wait for the next try. `asked`: by its person, for whom a board is started if none runs. */
  connect(asked: boolean): void {
    this.#api.postMessage({ type: 'connect', asked });
  }

  subscribe(channel: string, since: number | undefined): void {
    this.#send({ type: 'subscribe', channel, ...(since !== undefined && { since }) });
  }

  unsubscribe(channel: string): void {
    this.#send({ type: 'unsubscribe', channel });
  }

  dispatch(id: number, action: ClientAction): void {
    this.#send({ type: 'dispatch', id, action });
  }

  acknowledge(): void {
    // As `onFrame`.
  }

  /** Asks the editor to do something. */
  ask(action: EditorAction): void {
    this.#api.postMessage({ type: 'editor', action });
  }

  #received(news: PageNews): void {
    switch (news.type) {
      case 'board':
        if (news.message.type === 'welcome') this.#state({ how: 'open' });
        this.#message(news.message);
        return;
      case 'lost':
        this.#state({ how: 'lost', retryAtMs: news.retry_at_ms, why: news.why });
        return;
      case 'show':
        this.#show(news.task_id ?? undefined);
    }
  }

  #send(message: ClientMessage): void {
    this.#api.postMessage({ type: 'board', message });
  }
}

/** The extension and the page are of one build: the kind of a message is all there is to check. */
function isNews(value: unknown): value is PageNews {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
