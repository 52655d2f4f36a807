import { CLIENT_INFO_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * `both`: an answer has its text and its structured content. `text`: text alone, and tools are listed without output schemas. `auto`:
 * as is best for the client.
 */
export type AnswerForm = 'auto' | 'both' | 'text';

/** These clients pass both forms of an answer to their model, which doubles its cost (Copilot CLI 1.0.102, LangChain adapters 1.1.4). */
const TEXT_ALONE: ReadonlySet<string> = new Set(['copilot-cli', '@langchain/mcp-adapters']);

/** These clients show their model only the beginning of larger answers (Copilot CLI 1.0.102: above 16.6 to 24.9 KB). */
const SMALL_PAGES: ReadonlyMap<string, number> = new Map([['copilot-cli', 15_000]]);

const envelopeSchema = z.object({ [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }) });

/** Whether the client of this request gets text alone. */
export function getsTextAlone(server: Server, context: ServerContext, form: AnswerForm = 'auto'): boolean {
  if (form !== 'auto') return form === 'text';
  return TEXT_ALONE.has(clientName(server, context) ?? '');
}

/** The size of a page of text that the client of this request does not cut; undefined where the default page is whole. */
export function pageBytesFor(server: Server, context: ServerContext): number | undefined {
  return SMALL_PAGES.get(clientName(server, context) ?? '');
}

/** Whether the client of this request has hooks that call tools. */
export function hasHooks(server: Server, context: ServerContext): boolean {
  return clientName(server, context) === 'claude-code';
}

/** What the client of this request calls itself. */
export function clientName(server: Server, { mcpReq: { envelope } }: ServerContext): string | undefined {
  if (envelope === undefined) return server.getClientVersion()?.name;
  return envelopeSchema.safeParse(envelope).data?.[CLIENT_INFO_META_KEY].name;
}
