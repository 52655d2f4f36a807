import { CLIENT_INFO_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * `both`: an answer has its text and its structured content. `text`: text alone, and tools are listed without output schemas. `auto`:
 * as is best for the client.
 */
export type AnswerForm = 'auto' | 'both' | 'text';

/** These clients pass both forms of an answer to their model, which doubles its cost (Copilot CLI 1.0.102, LangChain adapters 1.1.4). */
const TEXT_ALONE: ReadonlySet<string> = new Set(['copilot-cli', '@langchain/mcp-adapters']);

const envelopeSchema = z.object({ [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }) });

/** Whether the client of this request gets text alone. */
export function getsTextAlone(server: Server, context: ServerContext, form: AnswerForm = 'auto'): boolean {
  if (form !== 'auto') return form === 'text';
  const { envelope } = context.mcpReq;
  const name =
    envelope === undefined
      ? server.getClientVersion()?.name
      : envelopeSchema.safeParse(envelope).data?.[CLIENT_INFO_META_KEY].name;
  return name !== undefined && TEXT_ALONE.has(name);
}
