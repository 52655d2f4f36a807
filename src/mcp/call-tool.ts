import { BridgeError, bridgeErrorOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { MAX_REPLY_BYTES, wireBytes } from './output-budget.js';
import { readable } from './readable.js';
import { isForAppAlone, type Tool, type ToolCall } from './tool.js';
import type { JsonObject } from './json-object.js';

/** What `tools/call` answers. An error has text alone: structured content would have to fit the tool's output schema. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
  /** Of an error, for programs: its code and what belongs to it. The text says the same to a model. */
  readonly _meta?: { readonly error: Readonly<Record<string, string>> };
}

export interface ToolHost<Services> {
  readonly services: Services;
  readonly logger: Logger;
  /** Runs before every tool; throws BridgeError when the tool cannot work yet, or here. */
  readonly precondition?: (tool: Tool<Services>) => void | Promise<void>;
  /** What an error says to do next; left out, as for a client that has every tool. */
  readonly hintOf?: (error: BridgeError) => string;
}

/** Its page reads the structured form, and no model reads the text. */
const FOR_THE_APP = 'For the app.';

/** Runs a tool and turns its result or error into an answer: the one place where errors are caught. Never rejects. */
export async function callTool<Services>(
  tool: Tool<Services>,
  args: unknown,
  host: ToolHost<Services>,
  call: ToolCall,
): Promise<ToolResult> {
  try {
    await host.precondition?.(tool);
    const answer = await tool.run(args, host.services, call);
    if (tool.forHooks === true) return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    if (isForAppAlone(tool)) return withinLimit(tool.name, FOR_THE_APP, answer);
    return withinLimit(tool.name, readable(answer), answer);
  } catch (thrown) {
    // The client has cancelled the call and gets no answer; what was thrown is the cancellation.
    if (call.signal.aborted) return errorAnswer('The call was cancelled.');
    const error = reported(thrown, `tools/call ${tool.name}`, tool.name, host);
    const text = errorText(error, host.hintOf?.(error));
    return { ...errorAnswer(text), _meta: { error: { errorCode: error.code, ...error.data } } };
  }
}

/** The error for the caller; the log has what was thrown. */
export function reported(
  thrown: unknown,
  request: string,
  what: string,
  { logger }: { readonly logger: Logger },
): BridgeError {
  const error = bridgeErrorOf(thrown, what);
  if (error.code === 'INTERNAL_ERROR')
    logger.error(`${what} failed with an internal error`, { error: thrown });
  else logRefusal(logger, request, error);
  return error;
}

/** `CODE: message hint`: how every error of the bridge reads, in answers of tools and of resources. */
export function errorText({ code, message, hint: usual }: BridgeError, hint = usual): string {
  const end = /[.!?…]$/u.test(message) ? '' : '.';
  // After a list of errors, what to do is no part of the last one.
  const before = message.includes('\n') ? '\n' : ' ';
  return `${code}: ${message}${end}${hint === '' ? '' : `${before}${hint}`}`;
}

function withinLimit(name: string, text: string, structuredContent: JsonObject): ToolResult {
  const result: ToolResult = { content: [{ type: 'text', text }], structuredContent };
  const bytes = wireBytes(result);
  if (bytes > MAX_REPLY_BYTES) {
    throw new BridgeError(
      'MESSAGE_TOO_LARGE',
      `The answer of ${name} is too long: ${bytes} bytes, and the limit is ${MAX_REPLY_BYTES}.`,
      'Request less with a smaller limit or max_bytes, and use the cursor for the rest.',
    );
  }
  return result;
}

function errorAnswer(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Logs what was asked for, such as `tools/call read_file`, and why it was refused. The message repeats arguments; the caller has it. */
function logRefusal(logger: Logger, asked: string, { code }: Pick<BridgeError, 'code'>): void {
  logger.info(`${asked} was refused`, { code });
}

/** Logs at debug how long the answer to `asked` took. */
export async function timed<T>(logger: Logger, asked: string, answer: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  try {
    return await answer();
  } finally {
    logger.debug(asked, { ms: Math.round(performance.now() - startMs) });
  }
}
