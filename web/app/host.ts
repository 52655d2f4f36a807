// The client that shows this page in a chat: MCP Apps over JSON-RPC and `postMessage`.
import { signal } from '@preact/signals';
import { isFields, textIn, type Fields } from '../text/fields.js';

const PROTOCOL_VERSION = '2026-01-26';
/** A client gets a new size at most so often. */
const QUIET_MS = 100;
/** In a chat the page is no higher: what is below is scrolled to. */
const MAX_HEIGHT = 720;
/** A request of ours that takes longer is given up. A call of a tool may wait 40 s at the server. */
const REQUEST_LIMIT_MS = 60_000;
const METHOD_NOT_FOUND = -32601;

/** What a call of a tool gave. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly fields: Fields;
  readonly text: string;
}

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Error) => void;
}

/** The window around this one. What other windows send is ignored. */
export class Host {
  readonly #window: Window;
  readonly #waiting = new Map<number, Waiting>();
  #ids = 0;
  #can: Fields = {};
  /** With what the tool was called that this page belongs to, and what it gave: set before `start`. */
  onInput = (_args: Fields): void => undefined;
  onResult = (_answer: ToolAnswer): void => undefined;
  /** The page is about to be taken away. */
  #isOver = false;
  /** False before the client has answered, when nobody looks, and when the page is about to be taken away: nothing is asked then. */
  readonly isActive = signal(false);

  constructor(window: Window) {
    this.#window = window;
    addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
      if (source === window && isFields(data)) this.#received(data);
    });
  }

  /** Rejects when the client refuses the page. */
  async start(name: string, version: string): Promise<void> {
    const { hostCapabilities, hostContext } = await this.#request('ui/initialize', {
      appInfo: { name, version },
      appCapabilities: { availableDisplayModes: ['inline'] },
      protocolVersion: PROTOCOL_VERSION,
    });
    if (isFields(hostCapabilities)) this.#can = hostCapabilities;
    if (isFields(hostContext)) showContext(hostContext);
    this.#post({ method: 'ui/notifications/initialized', params: {} });
    followSight((seen) => (this.isActive.value = seen && !this.#isOver));
    followSize((params) => this.#post({ method: 'ui/notifications/size-changed', params }));
  }

  /** Rejects when the client refuses the call, and when `abort` aborts. */
  async callTool(name: string, args: Fields, abort?: AbortSignal): Promise<ToolAnswer> {
    return answerOf(await this.#request('tools/call', { name, arguments: args }, abort));
  }

  /** False when the client does not open it. */
  async openLink(url: string): Promise<boolean> {
    if (this.#can['openLinks'] === undefined) return false;
    const refused = (): Fields => ({ isError: true });
    return (await this.#request('ui/open-link', { url }).catch(refused))['isError'] !== true;
  }

  /** What the model gets to know with the next message of the person; it takes the place of what was told before. */
  tellModel(text: string): void {
    if (this.#can['updateModelContext'] === undefined) return;
    const content = [{ type: 'text', text }];
    // A client that refuses it leaves the model to see the same in the answers of tools.
    this.#request('ui/update-model-context', { content }).catch(() => undefined);
  }

  #request(method: string, params: Fields, abort?: AbortSignal): Promise<Fields> {
    const id = ++this.#ids;
    const over = AbortSignal.any([AbortSignal.timeout(REQUEST_LIMIT_MS), ...(abort ? [abort] : [])]);
    return new Promise<Fields>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      over.addEventListener('abort', () => {
        if (!this.#waiting.delete(id)) return;
        const reason = abort?.aborted === true ? 'no longer needed' : 'no answer';
        this.#post({ method: 'notifications/cancelled', params: { requestId: id, reason } });
        reject(new Error(reason));
      });
      this.#post({ id, method, params });
    });
  }

  #received({ id, method, params, result, error }: Fields): void {
    if (typeof method === 'string') {
      const isKnown = this.#handle(method, isFields(params) ? params : {});
      const unknown = { code: METHOD_NOT_FOUND, message: `${method} is not known here.` };
      if (id !== undefined) this.#post(isKnown ? { id, result: {} } : { id, error: unknown });
      return;
    }
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (isFields(error)) waiting?.reject(new Error(textIn(error, 'message')));
    else waiting?.resolve(isFields(result) ? result : {});
  }

  /** False for what is not known. */
  #handle(method: string, params: Fields): boolean {
    switch (method) {
      case 'ping':
        return true;
      case 'ui/notifications/host-context-changed':
        showContext(params);
        return true;
      case 'ui/notifications/tool-input':
        this.onInput(isFields(params['arguments']) ? params['arguments'] : {});
        return true;
      case 'ui/notifications/tool-result':
        this.onResult(answerOf(params));
        return true;
      case 'ui/notifications/tool-cancelled':
        // What was asked until then may still wait for an answer.
        this.onResult(answerOf({}));
        return true;
      case 'ui/resource-teardown':
        this.#isOver = true;
        this.isActive.value = false;
        return true;
      default:
        return false;
    }
  }

  /** The client has an origin of its own choice, or none: the window is what it is known by. */
  #post(message: Fields): void {
    this.#window.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }
}

function showContext({ theme, styles }: Fields): void {
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') {
    root.dataset['theme'] = theme;
    root.style.colorScheme = theme;
  }
  const variables = isFields(styles) && isFields(styles['variables']) ? styles['variables'] : {};
  for (const name of ['--font-sans', '--font-mono'])
    if (textIn(variables, name) !== '') root.style.setProperty(name, textIn(variables, name));
}

function answerOf({ isError, structuredContent, content }: Fields): ToolAnswer {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return {
    isError: isError === true,
    fields: isFields(structuredContent) ? structuredContent : {},
    text: blocks.map((block) => (isFields(block) ? textIn(block, 'text') : '')).join('\n'),
  };
}

/** Whether somebody can see this page: its tab is in front, and it is not scrolled away. */
function followSight(tell: (seen: boolean) => void): void {
  let isNear = true;
  const look = (): void => tell(isNear && document.visibilityState === 'visible');
  const observer = new IntersectionObserver((entries) => {
    isNear = entries.at(-1)?.isIntersecting ?? true;
    look();
  });
  observer.observe(document.documentElement);
  document.addEventListener('visibilitychange', look);
  look();
}

/** How much room the page needs, whenever that has changed. */
function followSize(tell: (size: Fields) => void): void {
  let last = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const measure = (): void => {
    timer = undefined;
    const { width, height } = document.body.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.min(MAX_HEIGHT, Math.ceil(height)) };
    if (JSON.stringify(size) === last) return;
    last = JSON.stringify(size);
    tell(size);
  };
  new ResizeObserver(() => (timer ??= setTimeout(measure, QUIET_MS))).observe(document.body);
}
