import type { LinkEvents, OpenLink } from '../../src/board/client.js';
import { isOne } from '../../src/board/state.js';
import type { EditorAction, PageMessage, PageNews } from '../../src/board/editor-page.js';

/** What VS Code gives to the page of a view (https://code.visualstudio.com/api/extension-guides/webview). */
export interface VsCodeApi {
  postMessage(message: PageMessage): void;
  getState(): unknown;
  setState(state: { readonly task_id: string | null }): void;
}

export interface EditorListener {
  /** The person asks the editor for a task, or for the overview. */
  show(taskId: string | undefined): void;
  /** The editor has reached a board. */
  ready(): void;
}

/** The editor around the page. The extension in it reaches the board. */
export class Editor {
  readonly #api: VsCodeApi;
  #events: LinkEvents | undefined;
  /** The first message is sent by the extension when it has a connection itself. */
  readonly open: OpenLink = (events) => {
    this.#events = events;
    this.connect(false);
    return Promise.resolve({
      send: (message) => this.#api.postMessage({ type: 'board', message }),
      close: () => undefined,
    });
  };

  constructor(api: VsCodeApi, listener: EditorListener) {
    this.#api = api;
    addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (isOne<PageNews>(data)) this.#received(data, listener);
    });
  }

  /** `asked`: by its person, for whom a board is started if none runs. */
  connect(asked: boolean): void {
    this.#api.postMessage({ type: 'connect', asked });
  }

  /** Asks the editor to do something. */
  ask(action: EditorAction): void {
    this.#api.postMessage({ type: 'editor', action });
  }

  #received(news: PageNews, listener: EditorListener): void {
    switch (news.type) {
      case 'board':
        this.#events?.message(news.message);
        return;
      case 'lost':
        this.#events?.closed(news.why);
        return;
      case 'ready':
        listener.ready();
        return;
      case 'show':
        listener.show(news.task_id ?? undefined);
    }
  }
}
