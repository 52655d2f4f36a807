import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const replySchema = z.object({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
});
type Reply = z.infer<typeof replySchema>;
const toolResultSchema = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  content: z.array(z.object({ text: z.string().optional() })),
});

/** A bare JSON-RPC client over stdio: as little as possible between the clock and the server. */
export class StdioClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (reply: Reply | Error) => void>();
  readonly #closed: Promise<unknown>;
  #next = 1;

  private constructor([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(program, args, { env });
    this.#child.stderr.resume();
    // A server that died would else be waited for without an end.
    this.#closed = once(this.#child, 'close').then(([code]: unknown[]) => {
      for (const answer of this.#waiting.values()) answer(new Error(`the server left with ${String(code)}`));
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const { data } = replySchema.safeParse(JSON.parse(line));
      if (data === undefined) return;
      this.#waiting.get(data.id)?.(data);
      this.#waiting.delete(data.id);
    });
  }

  /** Starts a server; resolves when it is initialized. */
  static async open(command: readonly string[], env: Readonly<Record<string, string>>): Promise<StdioClient> {
    const client = new StdioClient(command, env);
    await client.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    client.#send({ method: 'notifications/initialized' });
    return client;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async request(method: string, params: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const answered = new Promise<Reply | Error>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    const reply = await answered;
    if (reply instanceof Error) throw reply;
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply.result ?? {};
  }

  /** The structured answer of a tool; throws with the tool's words when it failed. */
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const result = toolResultSchema.parse(await this.request('tools/call', { name, arguments: args }));
    if (result.isError === true) throw new Error(result.content[0]?.text ?? 'isError');
    return result.structuredContent ?? {};
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
