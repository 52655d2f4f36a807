import { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { isShort, MAX_REPLY_BYTES, surelyFits, wireBytes } from './output-budget.js';
import { readable } from './readable.js';
import type { Tool, ToolCall } from './tool.js';
import type { JsonObject } from './json-object.js';

/** What `tools/call` answers. An error has text alone: structured content would have to fit the tool's output schema. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
  /** Of an error, for programs: its code and what belongs to it. The text says the same to a model. */
  readonly _meta?: { readonly error: Readonly<Record<string, string>> };
}

/** Size of a result on the wire. */
export type ResultBytes = (result: ToolResult) => number;

export interface ToolHost<Services> {
  readonly services: Services;
  readonly logger: Logger;
  /** Runs before every tool; throws BridgeError when the tool cannot work yet, or here. */
  readonly precondition?: (tool: Tool<Services>) => void | Promise<void>;
  /** False where no form may be shown to a person, whatever the client declares. */
  readonly showsForms?: boolean;
  /** True when answers go out as text alone, and tools are listed without the schema of a structured form. */
  readonly textOnly?: boolean;
}

/**
 * Runs a tool and turns whatever comes out of it into an answer: the one place where errors are caught. Never rejects.
 * `resultBytes` is for who writes large results in another way than `JSON.stringify`.
 */
export async function callTool<Services>(
  tool: Tool<Services>,
  args: unknown,
  host: ToolHost<Services>,
  call: ToolCall,
  resultBytes?: ResultBytes,
): Promise<ToolResult> {
  try {
    await host.precondition?.(tool);
    return answerOf(tool.name, await tool.run(args, host.services, call), host, resultBytes);
  } catch (thrown) {
    // A call that nobody waits for any more is answered by nobody; what it threw is its own cancellation.
    if (call.signal.aborted) return errorAnswer('The call was cancelled.');
    if (thrown instanceof BridgeError) return faultAnswer(thrown);
    host.logger.error(`${tool.name} failed by a fault of the bridge`, { fault: thrown });
    return faultAnswer(
      new BridgeError(
        'INTERNAL_ERROR',
        `${tool.name} failed by a fault of the bridge itself.`,
        'The server log on stderr has the details; calling again may work.',
      ),
    );
  }
}

/** What goes out of a result. */
export function sentResult(result: ToolResult, textOnly: boolean): ToolResult {
  if (!textOnly || result.structuredContent === undefined) return result;
  return { content: result.content };
}

/** `CODE: message hint`: how every error of the bridge reads, in answers of tools and of resources. */
export function errorText(error: BridgeError): string {
  const end = /[.!?…]$/u.test(error.message) ? '' : '.';
  return `${error.code}: ${error.message}${end}${error.hint === '' ? '' : ` ${error.hint}`}`;
}

function answerOf(
  name: string,
  structuredContent: JsonObject,
  { textOnly = false }: Pick<ToolHost<unknown>, 'textOnly'>,
  resultBytes: ResultBytes | undefined,
): ToolResult {
  const text = readable(structuredContent);
  const result: ToolResult = { content: [{ type: 'text', text }], structuredContent };
  if (resultBytes === undefined ? surelyFits(text) : isShort(text)) return result;
  const bytes = resultBytes?.(result) ?? wireBytes(sentResult(result, textOnly));
  if (bytes > MAX_REPLY_BYTES) {
    throw new BridgeError(
      'MESSAGE_TOO_LARGE',
      `The answer of ${name} would be ${bytes} bytes long; the limit is ${MAX_REPLY_BYTES}.`,
      'Ask for less: a smaller limit or max_bytes, and the rest by cursor.',
    );
  }
  return result;
}

function faultAnswer(fault: BridgeError): ToolResult {
  return { ...errorAnswer(errorText(fault)), _meta: { error: { errorCode: fault.code, ...fault.data } } };
}

function errorAnswer(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
