import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { EditorWindow } from '../../src/editor/discovery.js';
import {
  editorMessageSchema,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequest,
} from '../../src/editor/protocol.js';
import { until } from './until.js';

/** A program that connects to a window of the editor with nothing but a WebSocket. Every message is checked against the schema. */
export class EditorClient {
  readonly socket: WebSocket;
  readonly messages: EditorMessage[] = [];
  #number = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.messages.push(editorMessageSchema.parse(JSON.parse(data.toString('utf8'))));
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
  async message(accept: (message: EditorMessage) => boolean, from = 0): Promise<EditorMessage> {
    const found = await until('a message of the editor', () => {
      const [message] = this.messages.slice(from).filter(accept);
      const isOver = this.socket.readyState === WebSocket.CLOSED;
      return (message !== undefined || isOver) && { message };
    });
    if (found.message === undefined) throw new Error('the connection was closed before such a message came');
    return found.message;
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
