import { signal } from '@preact/signals';
import { isFields, textIn, type Fields } from '../text/fields.js';
import { JsonRpc } from './json-rpc.js';

const PROTOCOL_VERSION = '2026-01-26';
/** A client gets a new size at most so often. */
const QUIET_MS = 100;
/** In a chat the page is no higher: what is below is scrolled to. */
const MAX_HEIGHT = 720;

/** What a call of a tool gave. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly fields: Fields;
  readonly text: string;
}

/** The client that shows this page in a chat. */
export class Host {
  readonly #rpc: JsonRpc;
  #can: Fields = {};
  #input: (args: Fields) => void = () => undefined;
  #result: (answer: ToolAnswer) => void = () => undefined;
  #unfollow: (() => void) | undefined;
  /** False before the client has answered, when nobody looks, and when the page is about to be taken away: nothing is asked then. */
  readonly isActive = signal(false);

  constructor(window: Window) {
    this.#rpc = new JsonRpc(window);
    this.#rpc.on('ping', () => ({}));
    this.#rpc.on('ui/notifications/host-context-changed', (context) => this.#context(context));
    this.#rpc.on('ui/notifications/tool-input', (params) =>
      this.#input(isFields(params['arguments']) ? params['arguments'] : {}),
    );
    this.#rpc.on('ui/notifications/tool-result', (result) => this.#result(answerOf(result)));
    // What was asked until then may still wait for an answer.
    this.#rpc.on('ui/notifications/tool-cancelled', () => this.#result(answerOf({})));
    this.#rpc.on('ui/resource-teardown', () => {
      this.#unfollow?.();
      this.isActive.value = false;
    });
  }

  /** With what the tool was called that this page belongs to, and what it gave: set before `start`. */
  onTool(input: (args: Fields) => void, result: (answer: ToolAnswer) => void): void {
    this.#input = input;
    this.#result = result;
  }

  /** Throws HostRefusal. */
  async start(name: string, version: string): Promise<void> {
    const { hostCapabilities, hostContext } = await this.#rpc.request('ui/initialize', {
      appInfo: { name, version },
      appCapabilities: { availableDisplayModes: ['inline'] },
      protocolVersion: PROTOCOL_VERSION,
    });
    if (isFields(hostCapabilities)) this.#can = hostCapabilities;
    if (isFields(hostContext)) this.#context(hostContext);
    this.#rpc.notify('ui/notifications/initialized');
    const unseen = isSeen((seen) => (this.isActive.value = seen));
    const unsized = followSize((size) => this.#rpc.notify('ui/notifications/size-changed', { ...size }));
    this.#unfollow = () => {
      unseen();
      unsized();
    };
  }

  /** Whether the client has declared `capability`: openLinks, serverTools, updateModelContext. */
  can(capability: string): boolean {
    return this.#can[capability] !== undefined;
  }

  /** Throws HostRefusal. */
  async callTool(name: string, args: Fields, abort?: AbortSignal): Promise<ToolAnswer> {
    return answerOf(await this.#rpc.request('tools/call', { name, arguments: args }, abort));
  }

  /** False when the client does not open it. */
  async openLink(url: string): Promise<boolean> {
    if (!this.can('openLinks')) return false;
    const refused = (): Fields => ({ isError: true });
    return (await this.#rpc.request('ui/open-link', { url }).catch(refused))['isError'] !== true;
  }

  /** What the model gets to know with the next message of the person; it takes the place of what was told before. */
  tellModel(text: string): void {
    if (!this.can('updateModelContext')) return;
    const content = [{ type: 'text', text }];
    // A client that refuses it leaves the model to see the same in the answers of tools.
    this.#rpc.request('ui/update-model-context', { content }).catch(() => undefined);
  }

  #context({ theme, styles }: Fields): void {
    const root = document.documentElement;
    if (theme === 'light' || theme === 'dark') {
      root.dataset['theme'] = theme;
      root.style.colorScheme = theme;
    }
    const variables = isFields(styles) && isFields(styles['variables']) ? styles['variables'] : {};
    for (const name of ['--font-sans', '--font-mono'])
      if (textIn(variables, name) !== '') root.style.setProperty(name, textIn(variables, name));
  }
}

function answerOf({ isError, structuredContent, content }: Fields): ToolAnswer {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return {
    isError: isError === true,
    fields: isFields(structuredContent) ? structuredContent : {},
    text: blocks.map((block) => (isFields(block) ? textIn(block, 'text') : '')).join('\n'),
  };
}

/** Tells whether somebody can see this page: its tab is in front, and it is not scrolled away. Until the result is called. */
function isSeen(tell: (seen: boolean) => void): () => void {
  let isNear = true;
  const look = (): void => tell(isNear && document.visibilityState === 'visible');
  const observer = new IntersectionObserver((entries) => {
    isNear = entries.at(-1)?.isIntersecting ?? true;
    look();
  });
  observer.observe(document.documentElement);
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    observer.disconnect();
    document.removeEventListener('visibilitychange', look);
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Tells how much room the page needs, when that has changed. Until the result is called. */
function followSize(tell: (size: Size) => void): () => void {
  let last = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const measure = (): void => {
    timer = undefined;
    const { width, height } = document.body.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.min(MAX_HEIGHT, Math.ceil(height)) };
    const now = `${size.width} ${size.height}`;
    if (now === last) return;
    last = now;
    tell(size);
  };
  const observer = new ResizeObserver(() => (timer ??= setTimeout(measure, QUIET_MS)));
  observer.observe(document.body);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
