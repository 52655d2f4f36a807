import { effect } from '@preact/signals';
import { LinkRefused, type LinkEvents, type OpenLink } from '../../src/board/client.js';
import type {
  ActionError,
  ClientAction,
  ClientMessage,
  Outcome,
  ServerMessage,
} from '../../src/board/protocol.js';
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
  #isStopped = false;
  #isFirst = true;

  constructor(host: Host, options: ChatLinkOptions) {
    this.#host = host;
    this.#options = options;
  }

  readonly open: OpenLink = async (events) => {
    const left = new AbortController();
    if (this.#isFirst) await pause(this.#options.firstReadMs ?? 0);
    this.#isFirst = false;
    const first = await this.#read(undefined, left.signal);
    // Its messages come when the connection is open.
    setTimeout(() => void this.#follow(events, first, left.signal), 0);
    return {
      send: (message) => this.#send(message, events),
      close: () => left.abort(),
    };
  };

  /** Reads no more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #follow(events: LinkEvents, first: Fields, left: AbortSignal): Promise<void> {
    events.message({
      type: 'welcome',
      v: 1,
      client: 'chat',
      version: textIn(first, 'version'),
      home: textIn(first, 'home'),
    });
    try {
      for (let answer = first; !left.aborted;) {
        events.message(valuesIn(answer));
        await pause(PAUSE_MS);
        answer = await this.#read(textIn(answer, 'answer'), left);
      }
    } catch (error) {
      events.closed(wordsOf(error));
    }
  }

  /** The next answer that is read while somebody looks. Throws LinkRefused when the client refuses it, and the server's error. */
  async #read(after: string | undefined, left: AbortSignal): Promise<Fields> {
    for (;;) {
      await this.#isSeen();
      if (this.#isStopped) await new Promise<never>(() => undefined);
      const hidden = new AbortController();
      const hide = (): void => hidden.abort();
      left.addEventListener('abort', hide);
      const unwatch = effect(() => {
        if (!this.#host.isActive.value) hide();
      });
      const { tasks } = this.#options;
      const query = { wait_ms: after === undefined ? 0 : WAIT_MS, after, tasks };
      try {
        const { isError, text, fields } = await this.#host
          .callTool('board_read', query, hidden.signal)
          .catch((error: unknown) => Promise.reject(new LinkRefused(wordsOf(error))));
        if (isError) throw new Error(text);
        return fields;
      } catch (error) {
        // It is hidden now, and read again when it is shown.
        if (left.aborted || !hidden.signal.aborted) throw error;
      } finally {
        left.removeEventListener('abort', hide);
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

  #send(message: ClientMessage, events: LinkEvents): void {
    if (message.type !== 'dispatch') return;
    const { id, action } = message;
    const done = this.#options.doing(action);
    this.#host.callTool('board_act', { action }).then(
      ({ isError, text, fields }) => {
        const outcome = isError ? refusal(text) : outcomeIn(fields);
        if (outcome.ok) done();
        events.message({ type: 'result', id, ...outcome });
      },
      (error: unknown) => events.message({ type: 'result', id, ...refusal(wordsOf(error)) }),
    );
  }
}

function valuesIn({ whole, set, del }: Fields): ServerMessage {
  const keys: readonly unknown[] = Array.isArray(del) ? del : [];
  return {
    type: 'values',
    channel: 'board:/',
    whole: whole === true,
    set: isFields(set) ? set : {},
    del: keys.filter((key) => typeof key === 'string'),
  };
}

function outcomeIn({ ok, error }: Fields): Outcome {
  return ok === true ? { ok } : { ok: false, error: errorIn(error) };
}

function refusal(message: string): Outcome {
  return { ok: false, error: { code: 'TASK_UNREACHABLE', message, hint: '' } };
}

function errorIn(error: unknown): ActionError {
  const fields = isFields(error) ? error : {};
  return { code: textIn(fields, 'code'), message: textIn(fields, 'message'), hint: textIn(fields, 'hint') };
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'It gave no reason.';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
