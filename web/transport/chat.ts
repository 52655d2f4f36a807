import { effect } from '@preact/signals';
import { LinkRefused, type LinkEvents, type OpenLink } from '../../src/board/client.js';
import type { ClientAction, ClientMessage, Outcome } from '../../src/board/protocol.js';
import type { Host } from '../app/host.js';
import { isFields, textIn, type Fields } from '../text/fields.js';

/** How long the server waits for news before it answers that there is none. */
const WAIT_MS = 20_000;
/** Between two reads: what happens meanwhile comes with the next one. */
const PAUSE_MS = 250;

export interface ChatLinkOptions {
  /** The tasks whose questions are shown; all when left out. */
  readonly tasks?: readonly string[];
  /** How long it waits before the first read; default: 0. */
  readonly firstReadMs?: number;
  /** A person does this; what it gives is called when it was done. */
  readonly doing: (action: ClientAction) => () => void;
}

/** Reaches the overview by the tools of a chat: it reads again and again while somebody looks, and never otherwise. */
export class ChatLink {
  readonly #host: Host;
  readonly #options: ChatLinkOptions;
  #firstReadMs: number;
  #isStopped = false;

  constructor(host: Host, options: ChatLinkOptions) {
    this.#host = host;
    this.#options = options;
    this.#firstReadMs = options.firstReadMs ?? 0;
  }

  readonly open: OpenLink = async (events) => {
    const left = new AbortController();
    await pause(this.#firstReadMs);
    this.#firstReadMs = 0;
    const first = await this.#read(undefined, left.signal);
    // Its messages come when the connection is open.
    setTimeout(() => void this.#follow(events, first, left.signal), 0);
    return {
      send: (message) => void this.#send(message, events),
      close: () => left.abort(),
    };
  };

  /** Reads no more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #follow(events: LinkEvents, first: Fields, left: AbortSignal): Promise<void> {
    const [version, home] = [textIn(first, 'version'), textIn(first, 'home')];
    events.message({ type: 'welcome', v: 1, client: 'chat', version, home });
    try {
      for (let answer = first; !left.aborted;) {
        const { whole, set } = answer;
        const values = { whole: whole === true, set: isFields(set) ? set : {}, del: [] };
        events.message({ type: 'values', channel: 'board:/', ...values });
        await pause(PAUSE_MS);
        answer = await this.#read(textIn(answer, 'answer'), left);
      }
    } catch (error) {
      events.closed(wordsOf(error));
    }
  }

  /** The next answer that is read while somebody looks. Throws LinkRefused when the client refuses it, and the server's error. */
  async #read(after: string | undefined, left: AbortSignal): Promise<Fields> {
    const { tasks } = this.#options;
    for (;;) {
      await this.#isSeen();
      if (this.#isStopped) await new Promise<never>(() => undefined);
      const hidden = new AbortController();
      const unwatch = effect(() => {
        if (!this.#host.isActive.value) hidden.abort();
      });
      const query = { wait_ms: after === undefined ? 0 : WAIT_MS, after, tasks };
      try {
        const { isError, text, fields } = await this.#host
          .callTool('board_read', query, AbortSignal.any([left, hidden.signal]))
          .catch((error: unknown) => Promise.reject(new LinkRefused(wordsOf(error))));
        if (isError) throw new Error(text);
        return fields;
      } catch (error) {
        // It is hidden now, and read again when it is shown.
        if (left.aborted || !hidden.signal.aborted) throw error;
      } finally {
        unwatch();
      }
    }
  }

  /** Resolves as soon as it is shown. */
  async #isSeen(): Promise<void> {
    let unwatch = (): void => undefined;
    await new Promise<void>((resolve) => {
      unwatch = effect(() => {
        if (this.#host.isActive.value) resolve();
      });
    });
    unwatch();
  }

  async #send(message: ClientMessage, events: LinkEvents): Promise<void> {
    if (message.type !== 'dispatch') return;
    const { id, action } = message;
    const done = this.#options.doing(action);
    const outcome = await this.#host.callTool('board_act', { action }).then(
      ({ isError, text, fields }) => (isError ? refusal(text) : outcomeIn(fields)),
      (error: unknown) => refusal(wordsOf(error)),
    );
    if (outcome.ok) done();
    events.message({ type: 'result', id, ...outcome });
  }
}

function outcomeIn({ ok, error }: Fields): Outcome {
  if (ok === true) return { ok };
  const fields = isFields(error) ? error : {};
  return refusal(textIn(fields, 'message'), textIn(fields, 'hint'), textIn(fields, 'code'));
}

function refusal(message: string, hint = '', code = 'TASK_UNREACHABLE'): Outcome {
  return { ok: false, error: { code, message, hint } };
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'It gave no reason.';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
