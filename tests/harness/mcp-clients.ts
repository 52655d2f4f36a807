import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';

export type Era = 'legacy' | 'modern';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export const toolResultSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

const formSchema = z.object({
  message: z.string(),
  requestedSchema: z.object({ properties: z.record(z.string(), z.unknown()) }),
});
const promptSchema = z.object({
  messages: z.tuple([z.object({ role: z.literal('user'), content: z.object({ text: z.string() }) })]),
});
const resourceSchema = z.object({ contents: z.tuple([z.looseObject({ text: z.string() })]) });

/** One connection to a server over stdio. */
export interface McpClient {
  readonly pid: number;
  /** What the server wrote to stderr. */
  readonly log: () => string;
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    onProgress?: (message: string) => void,
  ): Promise<ToolResult>;
  listTools(): Promise<string[]>;
  readResource(uri: string): Promise<string>;
  listResources(): Promise<string[]>;
  listPrompts(): Promise<string[]>;
  /** The text of its only message. */
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const identity = { name: 'claude-code-bridge-tests', version: '1.0.0' };

/** A person reads before the answer. */
const READING_MS = 400;

/** What the person at the client says to a form: its answers, a no, or undefined for one that is closed. */
export type PersonAtClient = (form: {
  readonly message: string;
  readonly fields: readonly string[];
}) => Readonly<Record<string, string>> | 'decline' | undefined;

/** `person` makes a client that can show forms, `showsApps` one that shows pages. */
export async function connect(
  era: Era,
  server: ServerCommand,
  person?: PersonAtClient,
  showsApps = false,
): Promise<McpClient> {
  const client = new Client(identity, {
    capabilities: { ...(person && { elicitation: {} }), ...(showsApps && { extensions: APPS }) },
    versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
  });
  const transport = new StdioClientTransport({
    ...server,
    args: [...server.args],
    env: { ...server.env },
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
  if (person) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const { message, requestedSchema } = formSchema.parse(params);
      const content = person({ message, fields: Object.keys(requestedSchema.properties) });
      if (content === undefined) return { action: 'cancel' };
      await setTimeout(READING_MS);
      return content === 'decline' ? { action: 'decline' } : { action: 'accept', content: { ...content } };
    });
  }
  await client.connect(transport);
  return {
    pid: transport.pid ?? 0,
    log: () => log,
    callTool: async (name, args, onProgress) =>
      toolResultSchema.parse(
        await client.callTool(
          { name, arguments: { ...args } },
          onProgress && { onprogress: ({ message }) => onProgress(message ?? '') },
        ),
      ),
    listTools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    readResource: async (uri) => resourceSchema.parse(await client.readResource({ uri })).contents[0].text,
    listResources: async () => (await client.listResources()).resources.map((resource) => resource.uri),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    getPrompt: async (name, args) =>
      promptSchema.parse(await client.getPrompt({ name, arguments: { ...args } })).messages[0].content.text,
    close: () => client.close(),
  };
}
