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

const infoSchema = z.object({ name: z.string(), version: z.string().catch('') });
export type ClientInfo = z.infer<typeof infoSchema>;

const extensions = z.record(z.string(), z.unknown()).optional().catch(undefined);
const declaredSchema = z.object({
  /** An empty declaration means forms; one that names modes means those. */
  elicitation: z
    .object({ form: z.unknown().optional(), url: z.unknown().optional() })
    .optional()
    .catch(undefined),
  extensions,
});
const appsSchema = z.object({ mimeTypes: z.array(z.string()) });
/** In the modern era every request has one, which names the client and what it can. */
const envelopeSchema = z.object({
  [CLIENT_INFO_META_KEY]: infoSchema.optional().catch(undefined),
  [CLIENT_CAPABILITIES_META_KEY]: z.unknown().optional(),
});
const requestSchema = z.object({ params: z.object({ _meta: envelopeSchema }) });
const initializeSchema = z.object({
  method: z.literal('initialize'),
  params: z.object({ clientInfo: infoSchema }),
});

/** The client of one request. */
export interface RequestClient {
  /** Of the modern era. */
  readonly isModern: boolean;
  /** What it calls itself. */
  readonly name: string | undefined;
  /** It has hooks that call tools. */
  readonly hasHooks: boolean;
  /** It has declared that it shows pages in the chat. */
  readonly showsApps: boolean;
  /** It can show forms. */
  readonly showsForms: boolean;
  /** This request declares Tasks: a subagent's call in the same session comes without that, and gets the plain answer. */
  readonly followsTasks: boolean;
  /** The size of a page of text that it does not cut; undefined where the default page is whole. */
  readonly pageBytes: number | undefined;
  /** It gets text alone, unless the setting says otherwise. */
  readonly takesText: boolean;
}

/** What a request says of its client, or else its connection does. */
export function clientOf(server: Server, { mcpReq: { envelope } }: ServerContext): RequestClient {
  const isModern = envelope !== undefined;
  const said = envelopeSchema.safeParse(envelope).data;
  const name = isModern ? said?.[CLIENT_INFO_META_KEY]?.name : server.getClientVersion()?.name;
  const capabilities = isModern ? said?.[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
  const declared = declaredSchema.safeParse(capabilities).data ?? {};
  const { elicitation } = declared;
  const apps = appsSchema.safeParse(declared.extensions?.[APPS_EXTENSION]).data;
  return {
    isModern,
    name,
    hasHooks: name === 'claude-code',
    showsApps: apps?.mimeTypes.includes(APP_MIME_TYPE) ?? false,
    showsForms:
      elicitation !== undefined && (elicitation.url === undefined || elicitation.form !== undefined),
    followsTasks: declaresTasks(envelope),
    pageBytes: SMALL_PAGES.get(name ?? ''),
    takesText: TEXT_ALONE.has(name ?? ''),
  };
}

/** Whether the request with this envelope declares Tasks. */
export function declaresTasks(envelope: unknown): boolean {
  const capabilities = envelopeSchema.safeParse(envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
  return TASKS_EXTENSION in (declaredSchema.safeParse(capabilities).data?.extensions ?? {});
}

/** The client that sends `message`; undefined where the message does not say. */
export function clientIn(message: JSONRPCMessage): ClientInfo | undefined {
  return (
    initializeSchema.safeParse(message).data?.params.clientInfo ??
    requestSchema.safeParse(message).data?.params._meta[CLIENT_INFO_META_KEY]
  );
}
