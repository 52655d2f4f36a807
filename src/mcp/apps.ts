// MCP Apps: pages of a server that a client shows inside the chat (extension io.modelcontextprotocol/ui).
import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';
export const APP_MIME_TYPE = 'text/html;profile=mcp-app';

/** How a tool belongs to an app. Clients that show no apps see none of it. */
export interface ToolApp {
  /** The page that is shown when a model calls the tool. */
  readonly resourceUri?: string;
  /** `app` alone: the page calls the tool, and no model does. */
  readonly visibility?: readonly ('model' | 'app')[];
}

const capabilitiesSchema = z.object({
  extensions: z.object({ [APPS_EXTENSION]: z.object({ mimeTypes: z.array(z.string()) }) }),
});
const envelopeSchema = z.object({ [CLIENT_CAPABILITIES_META_KEY]: z.unknown().optional() });

/** Whether the client of this request has declared that it shows such pages. */
export function showsApps(server: Server, { mcpReq: { envelope } }: ServerContext): boolean {
  const declared =
    envelope === undefined
      ? server.getClientCapabilities()
      : envelopeSchema.safeParse(envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
  const { data } = capabilitiesSchema.safeParse(declared);
  return data?.extensions[APPS_EXTENSION].mimeTypes.includes(APP_MIME_TYPE) ?? false;
}

/** True for a tool that only a page may call. */
export function isForAppAlone({ app }: { readonly app?: ToolApp | undefined }): boolean {
  return app?.visibility !== undefined && !app.visibility.includes('model');
}

/** True for a tool that models call: no page alone, and no hook. */
export function isForModels(tool: {
  readonly app?: ToolApp | undefined;
  readonly forHooks?: boolean | undefined;
}): boolean {
  return !isForAppAlone(tool) && tool.forHooks !== true;
}
