import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const replySchema = z.object({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
});
const toolResultSchema = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  content: z.array(z.object({ text: z.string().optional() })),
});

interface Waiting {
  readonly resolve: (reply: z.infer<typeof replySchema>) => void;
  readonly reject: (error: Error) => void;
}

/** A bare JSON-RPC client over stdio: as little as possible between the clock and the server. */
export class StdioClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    const [program = '', ...args] = command;
    this.#child = spawn(program, args, { env });
    this.#child.stderr.resume();
    // A server that died would else be waited for without an end.
    this.#child.once('close', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the server left with ${code}`));
      this.#waiting.clear();
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const reply = replySchema.safeParse(JSON.parse(line));
      if (!reply.success) return;
      this.#waiting.get(reply.data.id)?.resolve(reply.data);
      this.#waiting.delete(reply.data.id);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async request(method: string, params: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const reply = await new Promise<z.infer<typeof replySchema>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply.result ?? {};
  }

  async initialize(name = 'bench', version = '1'): Promise<void> {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name, version },
    });
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  /** The structured answer of a tool; throws with the tool's words when it failed. */
  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const result = toolResultSchema.parse(await this.request('tools/call', { name, arguments: args }));
    if (result.isError === true) throw new Error(result.content[0]?.text ?? 'isError');
    return result.structuredContent ?? {};
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    this.#child.stdin.end();
    await closed;
  }
}
