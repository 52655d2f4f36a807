import { z } from 'zod';
import { Emitter } from '../../src/base/lifecycle.js';

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
export type RawMessage = z.infer<typeof messageSchema>;

/** Collects the lines that a server wrote, and awaits answers in them. */
export class RawReplies {
  readonly lines: string[] = [];
  readonly #came = new Emitter<void>();
  #rest = '';

  take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    this.lines.push(...lines);
    if (lines.length > 0) this.#came.fire();
  }

  /** Every line as a message; throws for one that is none. */
  get messages(): RawMessage[] {
    return this.lines.map((line) => messageSchema.parse(JSON.parse(line)));
  }

  /** The answer to a request, as soon as it is there; `null` for answers whose request could not be told. */
  answerTo(id: string | number | null): Promise<RawMessage> {
    const found = () =>
      this.messages.find((message) => message.id === id && (message.result ?? message.error) !== undefined);
    return new Promise((resolve) => {
      const present = found();
      if (present !== undefined) return resolve(present);
      const subscription = this.#came.event(() => {
        const answer = found();
        if (answer === undefined) return;
        subscription.dispose();
        resolve(answer);
      });
    });
  }
}

export function request(
  id: string | number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

export function initialize(id: string | number, protocolVersion = '2025-06-18'): string {
  return request(id, 'initialize', {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  });
}
