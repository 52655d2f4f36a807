import { CLIENT_INFO_META_KEY, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';

const info = z.object({ name: z.string(), version: z.string() });
const initialize = z.object({ method: z.literal('initialize'), params: z.object({ clientInfo: info }) });
/** In the modern era every request names the client. */
const request = z.object({ params: z.object({ _meta: z.object({ [CLIENT_INFO_META_KEY]: info }) }) });

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Pure: the client that sends `message`; undefined where the message does not say. */
export function clientIn(message: JSONRPCMessage): ClientInfo | undefined {
  return (
    initialize.safeParse(message).data?.params.clientInfo ??
    request.safeParse(message).data?.params._meta[CLIENT_INFO_META_KEY]
  );
}
