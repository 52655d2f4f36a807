// What the client of a request says of itself, and how answers fit it.
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** MCP Apps: pages of a server that a client shows inside the chat. */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_MIME_TYPE = 'text/html;profile=mcp-app';
/** MCP Tasks: a client that follows a long piece of work without its model. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/**
 * `both`: an answer has its text and its structured content. `text`: text alone, and tools are listed without output schemas. `auto`:
 * as is best for the client.
 */
export type AnswerForm = 'auto' | 'both' | 'text';

/** These clients pass both forms of an answer to their model, which doubles its cost (Copilot CLI 1.0.102, LangChain adapters 1.1.4). */
const TEXT_ALONE: ReadonlySet<string> = new Set(['copilot-cli', '@langchain/mcp-adapters']);

/** These clients show their model only the beginning of larger answers (Copilot CLI 1.0.102: above 16.6 to 24.9 KB). */
const SMALL_PAGES: ReadonlyMap<string, number> = new Map([['copilot-cli', 15_000]]);

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** The request that a client makes, and its connection. In the modern era the envelope of each request names the client. */
export class Client {
  readonly #server: Server;
  readonly #envelope: unknown;

  constructor(server: Server, { mcpReq: { envelope } }: ServerContext) {
    this.#server = server;
    this.#envelope = envelope;
  }

  get isModern(): boolean {
    return this.#envelope !== undefined;
  }

  /** What it calls itself. */
  get name(): string | undefined {
    if (!this.isModern) return this.#server.getClientVersion()?.name;
    return envelopeInfo.safeParse(this.#envelope).data?.[CLIENT_INFO_META_KEY].name;
  }

  /** Whether it has hooks that call tools. */
  get hasHooks(): boolean {
    return this.name === 'claude-code';
  }

  /** Whether it has declared that it shows pages in the chat. */
  get showsApps(): boolean {
    const { data } = appsSchema.safeParse(this.#declared);
    return data?.extensions[APPS_EXTENSION].mimeTypes.includes(APP_MIME_TYPE) ?? false;
  }

  /** Whether it can show forms: an empty declaration means forms; one that names modes means those. */
  get showsForms(): boolean {
    const { data } = formsSchema.safeParse(this.#declared);
    return data !== undefined && (data.elicitation.url === undefined || data.elicitation.form !== undefined);
  }

  /** The size of a page of text that it does not cut; undefined where the default page is whole. */
  get pageBytes(): number | undefined {
    return SMALL_PAGES.get(this.name ?? '');
  }

  /** Whether it gets text alone. */
  getsTextAlone(form: AnswerForm = 'auto'): boolean {
    return form === 'auto' ? TEXT_ALONE.has(this.name ?? '') : form === 'text';
  }

  get #declared(): unknown {
    if (!this.isModern) return this.#server.getClientCapabilities();
    return envelopeCapabilities.safeParse(this.#envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
  }
}

/**
 * Whether the request with this envelope declares Tasks. Each request counts alone: a subagent's call in the same session
 * comes without it, and gets the plain answer.
 */
export function declaresTasks(envelope: unknown): boolean {
  return tasksSchema.safeParse(envelope).success;
}

/** The client that sends `message`; undefined where the message does not say. */
export function clientIn(message: JSONRPCMessage): ClientInfo | undefined {
  return (
    initializeSchema.safeParse(message).data?.params.clientInfo ??
    requestSchema.safeParse(message).data?.params._meta[CLIENT_INFO_META_KEY]
  );
}

const infoSchema = z.object({ name: z.string(), version: z.string() });
const envelopeInfo = z.object({ [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }) });
const envelopeCapabilities = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.unknown().optional() });
const initializeSchema = z.object({
  method: z.literal('initialize'),
  params: z.object({ clientInfo: infoSchema }),
});
/** In the modern era every request names the client. */
const requestSchema = z.object({
  params: z.object({ _meta: z.object({ [CLIENT_INFO_META_KEY]: infoSchema }) }),
});
const appsSchema = z.object({
  extensions: z.object({ [APPS_EXTENSION]: z.object({ mimeTypes: z.array(z.string()) }) }),
});
const formsSchema = z.object({
  elicitation: z.object({ form: z.unknown().optional(), url: z.unknown().optional() }),
});
const tasksSchema = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    extensions: z.object({ [TASKS_EXTENSION]: z.unknown() }).refine((all) => TASKS_EXTENSION in all),
  }),
});
