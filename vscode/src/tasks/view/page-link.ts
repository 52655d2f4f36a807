import type { WebSocket } from 'ws';
import type { Clock } from '../../../../src/base/clock.js';
import { messageOf } from '../../../../src/base/errors.js';
import type { Disposable } from '../../../../src/base/lifecycle.js';
import type { Logger } from '../../../../src/base/logger.js';
import { socketJson } from '../../../../src/base/socket-json.js';
import { pageMessageSchema, type EditorAction, type PageNews } from '../../../../src/board/editor-page.js';
import { closeWords } from '../../board/close-words.js';
import { isServerMessage } from '../../board/server-message.js';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

export interface PageLinkOptions {
  /** Opens a connection to the board, whose first message is its welcome, and starts a board if it may. Throws an error with what to do. */
  readonly open: (mayStart: boolean) => Promise<WebSocket>;
  /** A person has just opened the view. */
  readonly isAsked: boolean;
  readonly post: (news: PageNews) => void;
  /** The page asks for what only the editor can do. */
  readonly onAction: (action: EditorAction) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Connects a page in a view to the board: what the board says goes to the page, and what the page asks for to the board. */
export class PageLink implements Disposable {
  readonly #options: PageLinkOptions;
  #socket: WebSocket | undefined;
  #isOpening = false;
  #isLoaded = false;
  /** A person has asked for the board, and it was not tried since. */
  #isAsked: boolean;
  #isDisposed = false;
  #retry: Disposable | undefined;
  #retryMs = FIRST_RETRY_MS;
  /** The task to show when the page has loaded; undefined for what it shows anyway. */
  #toShow: string | null | undefined;

  constructor(options: PageLinkOptions) {
    this.#options = options;
    this.#isAsked = options.isAsked;
  }

  /** What the page has posted. */
  received(message: unknown): void {
    const { logger, onAction } = this.#options;
    const parsed = pageMessageSchema.safeParse(message);
    if (!parsed.success) {
      logger.warn('A message of the view was not understood', { error: parsed.error.message });
      return;
    }
    const said = parsed.data;
    switch (said.type) {
      case 'connect':
        this.#isAsked ||= said.asked;
        this.#loaded();
        return;
      case 'board':
        // The extension itself has said who it is.
        if (said.message.type !== 'hello' && this.#socket?.readyState === this.#socket?.OPEN)
          this.#socket?.send(JSON.stringify(said.message));
        return;
      case 'editor':
        onAction(said.action);
    }
  }

  /** A person asks for a task, or for the overview: it is shown as soon as the page is there. */
  show(taskId: string | undefined): void {
    if (this.#socket === undefined) {
      this.#isAsked = true;
      if (this.#isLoaded) void this.#open();
    }
    if (this.#isLoaded) this.#options.post({ type: 'show', task_id: taskId ?? null });
    else this.#toShow = taskId ?? null;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#retry?.dispose();
    this.#socket?.terminate();
  }

  /** A page that was loaded again knows nothing: its board says all from the beginning. */
  #loaded(): void {
    this.#isLoaded = true;
    this.#retryMs = FIRST_RETRY_MS;
    const before = this.#socket;
    this.#socket = undefined;
    before?.terminate();
    void this.#open();
    if (this.#toShow === undefined) return;
    this.#options.post({ type: 'show', task_id: this.#toShow });
    this.#toShow = undefined;
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#isDisposed) return;
    this.#isOpening = true;
    this.#retry?.dispose();
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    try {
      const socket = await this.#options.open(isAsked);
      if (this.#isDisposed) socket.terminate();
      else this.#use(socket);
    } catch (error) {
      this.#lost(messageOf(error));
    } finally {
      this.#isOpening = false;
    }
  }

  #use(socket: WebSocket): void {
    this.#socket = socket;
    socket.on('message', (data, isBinary) => {
      if (isBinary || this.#socket !== socket) return;
      const message = socketJson(data);
      if (!isServerMessage(message)) return;
      if (message.type === 'welcome') this.#retryMs = FIRST_RETRY_MS;
      this.#options.post({ type: 'board', message });
    });
    socket.on('error', (error) =>
      this.#options.logger.warn('The view lost its connection to the board', { error }),
    );
    socket.on('close', (code) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#lost(closeWords(code));
    });
  }

  #lost(why: string): void {
    if (this.#isDisposed) return;
    const { clock, post } = this.#options;
    post({ type: 'lost', why, retry_at_ms: clock.now() + this.#retryMs });
    this.#retry = clock.after(this.#retryMs, () => void this.#open());
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2);
  }
}
