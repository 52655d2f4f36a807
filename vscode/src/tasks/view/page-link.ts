import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { Logger } from '../../../../src/base/logger.js';
import { changes } from '../../../../src/board/channel.js';
import { pageMessageSchema, type EditorAction, type PageNews } from '../../../../src/board/editor-page.js';
import type { ClientMessage, ServerMessage } from '../../../../src/board/protocol.js';
import type { Values } from '../../../../src/board/state.js';
import type { BoardConnection } from '../../board/board-connection.js';

export interface PageLinkOptions {
  readonly board: Pick<BoardConnection, 'state' | 'welcome' | 'onChange' | 'follow' | 'act' | 'want'>;
  readonly post: (news: PageNews) => void;
  /** The page asks for what only the editor can do. */
  readonly onAction: (action: EditorAction) => void;
  readonly logger: Logger;
}

/** Connects a page in a view to the board, over the connection of its window. */
export class PageLink implements Disposable {
  readonly #options: PageLinkOptions;
  readonly #changes: Disposable;
  readonly #followed = new Map<string, Disposable>();
  #isLoaded = false;
  /** The page has got the welcome, and nothing since that said that it is lost. */
  #isOpen = false;
  /** A person has asked for the board, and the page has not loaded yet. */
  #isAsked = false;
  /** The task to show when the page has loaded; undefined for what it shows anyway. */
  #toShow: string | null | undefined;

  constructor(options: PageLinkOptions) {
    this.#options = options;
    this.#changes = options.board.onChange(() => this.#boardChanged());
  }

  /** The view is opened, `isAsked`: by a person, or closed. What was asked for before is shown when its page has loaded. */
  unload(isAsked: boolean): void {
    this.#leave();
    this.#isLoaded = false;
    this.#isAsked ||= isAsked;
  }

  /** What the page has posted. */
  received(message: unknown): void {
    const { logger, onAction, post } = this.#options;
    const parsed = pageMessageSchema.safeParse(message);
    if (!parsed.success) {
      logger.warn('A message of the view was not understood', { error: parsed.error.message });
      return;
    }
    const said = parsed.data;
    switch (said.type) {
      case 'connect':
        this.#connect(said.asked);
        if (this.#toShow !== undefined) post({ type: 'show', task_id: this.#toShow });
        this.#toShow = undefined;
        return;
      case 'board':
        this.#pass(said.message);
        return;
      case 'editor':
        onAction(said.action);
    }
  }

  /** A person asks for a task, or for the overview: it is shown as soon as the page is there. */
  show(taskId: string | undefined): void {
    if (!this.#isLoaded) {
      this.#isAsked = true;
      this.#toShow = taskId ?? null;
      return;
    }
    if (!this.#isOpen) this.#options.board.want();
    this.#options.post({ type: 'show', task_id: taskId ?? null });
  }

  dispose(): void {
    this.#changes.dispose();
    this.#leave();
  }

  /** A page that was loaded again knows nothing: all is said from the beginning. */
  #connect(isAsked: boolean): void {
    const { board, post } = this.#options;
    this.#leave();
    this.#isLoaded = true;
    if (isAsked || this.#isAsked) board.want();
    this.#isAsked = false;
    const { state, welcome } = board;
    if (state.how === 'open' && welcome !== undefined) {
      this.#isOpen = true;
      this.#say(welcome);
    } else if (state.how === 'lost') post({ type: 'lost', why: state.why });
    else if (state.how === 'off') post({ type: 'lost', why: 'No board runs.' });
  }

  #boardChanged(): void {
    const { board, post } = this.#options;
    const { state } = board;
    if (!this.#isLoaded || (state.how === 'open') === this.#isOpen) return;
    if (state.how === 'open') return post({ type: 'ready' });
    this.#leave();
    post({ type: 'lost', why: state.how === 'lost' ? state.why : 'The board is not connected.' });
  }

  #leave(): void {
    this.#isOpen = false;
    for (const following of this.#followed.values()) following.dispose();
    this.#followed.clear();
  }

  /** As the board would take it from a page of its own. */
  #pass(message: ClientMessage): void {
    const { board } = this.#options;
    if (message.type === 'subscribe') this.#follow(message.channel);
    else if (message.type === 'unsubscribe') this.#unfollow(message.channel);
    else if (message.type === 'dispatch') {
      const { id, action } = message;
      void board.act(action).then((outcome) => this.#say({ ...outcome, type: 'result', id }));
    }
  }

  #follow(channel: string): void {
    this.#unfollow(channel);
    let sent: Values | undefined;
    const following = this.#options.board.follow(channel, {
      changed: (values) => {
        const news = { whole: sent === undefined, ...changes(sent ?? new Map(), values) };
        this.#say({ type: 'values', channel, ...news });
        sent = values;
      },
      refused: (error) => this.#say({ type: 'refused', channel, error }),
    });
    this.#followed.set(channel, following);
  }

  #unfollow(channel: string): void {
    this.#followed.get(channel)?.dispose();
    this.#followed.delete(channel);
  }

  #say(message: ServerMessage): void {
    this.#options.post({ type: 'board', message });
  }
}

interface PageHtmlOptions {
  /** Where the editor lets the page load from. */
  readonly source: string;
  /** Address of the folder of the page, without a slash at its end. */
  readonly folder: string;
  /** Of the styles that the page itself makes. */
  readonly nonce: string;
}

/** The page of the view: it loads its own script and style, and nothing else. */
export function pageHtml({ source, folder, nonce }: PageHtmlOptions): string {
  const policy = [
    "default-src 'none'",
    `script-src ${source}`,
    `style-src ${source} 'nonce-${nonce}'`,
    `img-src ${source} data:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="content-security-policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="style-nonce" content="${nonce}" />
    <title>Claude tasks</title>
    <link rel="stylesheet" href="${folder}/page.css" />
    <script type="module" src="${folder}/page.js"></script>
  </head>
  <body>
    <div id="app"><p class="empty">Loading…</p></div>
  </body>
</html>
`;
}
