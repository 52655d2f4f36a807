import type {
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  Server,
  Transport,
} from '@modelcontextprotocol/server';
import { messageOf } from '../base/errors.js';
import { answerJson, longField, piecesBytes, type JsonPieces } from './answer-json.js';
import { callTool, sentResult, type ToolHost, type ToolResult } from './call-tool.js';
import { legacyPerson, showsForms } from './elicitation.js';
import { isObject, type JsonObject } from './json-object.js';
import { LongTexts, type LongText } from './long-text.js';
import { isShort, jsonFits } from './output-budget.js';
import type { Tool, ToolCall } from './tool.js';
import type { Person } from './person.js';

/** A wire that may take the answer of a tool as JSON. */
export interface AnswerWire extends Transport {
  answer?(id: RequestId, result: JsonPieces): Promise<void>;
}

/** What of the client's first words is needed for its calls. */
interface Opening {
  readonly id: RequestId;
  readonly showsForms: boolean;
}

/** All that the parameters of an ordinary call hold; another name in them is for the SDK to judge. */
const CALL_PARAMS: readonly string[] = ['name', 'arguments', '_meta'];
/** What belongs to the protocol itself in `_meta`, such as the envelope of the modern era. */
const RESERVED_META = 'io.modelcontextprotocol/';

/**
 * Ordinary calls of tools, answered without the SDK in between: it judges each message and each answer several times over, which
 * is more work than most calls are. Only on connections of the legacy era, where `initialize` has said all there is to know of a
 * client. Whatever is not ordinary goes the SDK's way, and is answered alike.
 */
export class DirectCalls<Services> {
  readonly #tools: ReadonlyMap<string, Tool<Services>>;
  readonly #host: ToolHost<Services>;
  readonly #wire: AnswerWire;
  readonly #server: () => Server | undefined;
  readonly #running = new Map<RequestId, DirectCall>();
  readonly #longTexts = new LongTexts();
  readonly #textOnly: boolean;
  #opening: Opening | undefined;
  #isOpen = false;

  constructor(options: {
    readonly tools: ReadonlyMap<string, Tool<Services>>;
    readonly host: ToolHost<Services>;
    readonly wire: AnswerWire;
    /** Through which a person at the client is asked. */
    readonly server: () => Server | undefined;
  }) {
    this.#tools = options.tools;
    this.#host = options.host;
    this.#wire = options.wire;
    this.#server = options.server;
    this.#textOnly = options.host.textOnly ?? false;
  }

  /** True when the message is dealt with; else it is the SDK's. */
  takes(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return false;
    if (!('id' in message))
      return message.method === 'notifications/cancelled' && this.#cancel(message.params?.['requestId']);
    if (message.method === 'initialize') this.#opens(message);
    return message.method === 'tools/call' && this.#isOpen && this.#begins(message);
  }

  /** A message that went out: with the SDK's answer to `initialize` the connection is of the legacy era for good. */
  sent(message: JSONRPCMessage): void {
    if (this.#opening === undefined || this.#isOpen || !('result' in message)) return;
    if (message.id === this.#opening.id) this.#isOpen = true;
  }

  /** Nobody waits for an answer any more. */
  closed(): void {
    for (const call of this.#running.values()) call.cancel();
    this.#running.clear();
  }

  #opens({ id, params }: JSONRPCRequest): void {
    if (this.#isOpen || params?._meta !== undefined) return;
    this.#opening = { id, showsForms: showsForms(params?.['capabilities']) };
  }

  #begins({ id, params }: JSONRPCRequest): boolean {
    if (params === undefined || !isOrdinary(params)) return false;
    const { name, arguments: args, _meta: meta } = params;
    const tool = typeof name === 'string' ? this.#tools.get(name) : undefined;
    if (tool === undefined || this.#running.has(id)) return false;
    const call = new DirectCall({
      progressToken: meta?.progressToken,
      tell: (progress) => this.#tell(progress),
      personFor: (one) => this.#personFor(one),
      longTexts: this.#longTexts,
      textOnly: this.#textOnly,
    });
    this.#running.set(id, call);
    void this.#answer(id, tool, args, call);
    return true;
  }

  /** Never rejects. */
  async #answer(id: RequestId, tool: Tool<Services>, args: unknown, call: DirectCall): Promise<void> {
    const result = await callTool(tool, args, this.#host, call, (made) => piecesBytes(call.json(made)));
    if (call.isCancelled) return;
    this.#running.delete(id);
    try {
      if (this.#wire.answer === undefined)
        await this.#wire.send({ jsonrpc: '2.0', id, result: { ...sentResult(result, this.#textOnly) } });
      else await this.#wire.answer(id, call.json(result));
    } catch (fault) {
      // The wire itself says that the client is gone.
      this.#host.logger.debug('An answer could not be sent', { tool: tool.name, fault: messageOf(fault) });
    }
  }

  #cancel(id: unknown): boolean {
    if (typeof id !== 'string' && typeof id !== 'number') return false;
    const call = this.#running.get(id);
    this.#running.delete(id);
    call?.cancel();
    return call !== undefined;
  }

  #tell(params: JsonObject): void {
    this.#wire.send({ jsonrpc: '2.0', method: 'notifications/progress', params }).catch((fault: unknown) => {
      this.#host.logger.debug('Progress could not be sent', { fault: messageOf(fault) });
    });
  }

  #personFor(call: DirectCall): Person | undefined {
    const server = this.#server();
    if (this.#opening?.showsForms !== true || server === undefined) return undefined;
    if (this.#host.showsForms === false) return undefined;
    return legacyPerson(
      (params, timeoutMs) =>
        server.request({ method: 'elicitation/create', params }, { timeout: timeoutMs, signal: call.signal }),
      this.#host.logger,
    );
  }
}

interface DirectCallOptions {
  readonly progressToken: string | number | undefined;
  readonly tell: (progress: JsonObject) => void;
  readonly personFor: (call: DirectCall) => Person | undefined;
  readonly longTexts: LongTexts;
  readonly textOnly: boolean;
}

/** Makes what few tools look at only when they do. */
class DirectCall implements ToolCall {
  readonly #options: DirectCallOptions;
  #controller: AbortController | undefined;
  #progress = 0;
  #long: LongText | undefined;
  #json: { readonly of: ToolResult; readonly pieces: JsonPieces } | undefined;
  isCancelled = false;

  constructor(options: DirectCallOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  get person(): Person | undefined {
    return this.#options.personFor(this);
  }

  progress(message: string): void {
    const { progressToken, tell } = this.#options;
    if (progressToken === undefined || this.isCancelled) return;
    this.#progress += 1;
    tell({ progressToken, progress: this.#progress, message });
  }

  fits(text: string, isAscii?: boolean): boolean {
    return isShort(text) || jsonFits(this.#escaped(text, isAscii).bytes);
  }

  /** The result as JSON, made once. */
  json(result: ToolResult): JsonPieces {
    if (this.#json?.of !== result) this.#json = { of: result, pieces: this.#written(result) };
    return this.#json.pieces;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#controller?.abort();
  }

  #written(result: ToolResult): JsonPieces {
    const answer = result.structuredContent;
    const field = answer === undefined ? undefined : longField(answer);
    const { textOnly } = this.#options;
    if (answer === undefined || field === undefined) return [JSON.stringify(sentResult(result, textOnly))];
    return answerJson(answer, field.name, this.#escaped(field.text), textOnly);
  }

  /** What a tool asked about is what it then answers. */
  #escaped(text: string, isAscii?: boolean): LongText {
    if (this.#long?.text !== text) this.#long = this.#options.longTexts.escaped(text, isAscii);
    return this.#long;
  }
}

function isOrdinary(params: JsonObject): boolean {
  for (const key in params) if (!CALL_PARAMS.includes(key)) return false;
  const { arguments: args, _meta: meta } = params;
  if (args !== undefined && !isObject(args)) return false;
  if (meta === undefined) return true;
  return isObject(meta) && !Object.keys(meta).some((key) => key.startsWith(RESERVED_META));
}
