import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { EditorWindow } from '../../src/editor/discovery.js';
import {
  editorMessageSchema,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequest,
} from '../../src/editor/protocol.js';

const ANSWER_LIMIT_MS = 60_000;

/** A program that connects to a window of the editor with nothing but a WebSocket. Every message is checked against the schema. */
export class EditorClient {
  readonly socket: WebSocket;
  readonly messages: EditorMessage[] = [];
  readonly #arrived = new Set<() => void>();
  #number = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.setMaxListeners(0);
    socket.on('message', (data: Buffer) => {
      this.messages.push(editorMessageSchema.parse(JSON.parse(data.toString('utf8'))));
      for (const arrived of [...this.#arrived]) arrived();
    });
  }

  static async connect(
    { port, token }: Pick<EditorWindow, 'port' | 'token'>,
    headers: Readonly<Record<string, string>> = { authorization: `Bearer ${token}` },
  ): Promise<EditorClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers });
    const client = new EditorClient(socket);
    await once(socket, 'open');
    return client;
  }

  nextId(): string {
    return `request-${++this.#number}`;
  }

  /** The answer to a request: the first message with its id that is no output. */
  async ask(request: Unidentified<EditorRequest> & { readonly id?: string }): Promise<EditorMessage> {
    const { id = this.nextId() } = request;
    const from = this.messages.length;
    this.socket.send(JSON.stringify({ ...request, id }));
    const isRead = request.type === 'read_output';
    return this.message((one) => 'id' in one && one.id === id && (isRead || one.type !== 'output'), from);
  }

  /** An answer that must be of this type. */
  async askFor<Type extends EditorMessage['type']>(
    type: Type,
    request: Unidentified<EditorRequest> & { readonly id?: string },
  ): Promise<EditorMessageOf<Type>> {
    return ofType(type, await this.ask(request));
  }

  run(command: string, terminalId: string, more: object = {}): Promise<EditorMessageOf<'success'>> {
    return this.askFor('success', { type: 'execute', command, terminalId, ...more });
  }

  /** The first message, of those that came since `from` and those to come, that is such a one. */
  message(accept: (message: EditorMessage) => boolean, from = 0): Promise<EditorMessage> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#arrived.delete(look);
        reject(
          new Error(`no such message; the last was ${JSON.stringify(this.messages.at(-1))?.slice(0, 500)}`),
        );
      }, ANSWER_LIMIT_MS);
      let seen = from;
      const look = (): void => {
        for (; seen < this.messages.length; seen++) {
          const message = this.messages[seen];
          if (message === undefined || !accept(message)) continue;
          clearTimeout(timer);
          this.#arrived.delete(look);
          return resolve(message);
        }
      };
      this.#arrived.add(look);
      look();
      this.socket.once('close', () => {
        if (!this.#arrived.delete(look)) return;
        clearTimeout(timer);
        reject(new Error('the connection was closed before such a message came'));
      });
    });
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }
}

type Unidentified<Request> = Request extends EditorRequest ? Omit<Request, 'id'> : never;

export function ofType<Type extends EditorMessage['type']>(
  type: Type,
  message: EditorMessage,
): EditorMessageOf<Type> {
  if (isOfType(type, message)) return message;
  throw new Error(`expected ${type}: ${JSON.stringify(message).slice(0, 1_000)}`);
}

function isOfType<Type extends EditorMessage['type']>(
  type: Type,
  message: EditorMessage,
): message is EditorMessageOf<Type> {
  return message.type === type;
}
