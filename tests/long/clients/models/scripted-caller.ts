// Pure: the model of a client that delegates; it speaks no API of its own.
import type { ModelCall, ModelRequest, ModelTurn } from './model-server.js';

/** A conversation: it yields what the model calls, gets the answer as the model reads it, and returns the last words. */
export type Conversation = Generator<ModelCall, string, string>;

/** Clients put a name of their own before the tools of a server. */
const OF_BRIDGE = /claude[-_]code[-_]bridge/;

/** A model that plays conversations, one after the other, whatever API it is asked by. */
export class ScriptedCaller {
  /** Every call with its answer, in order. */
  readonly calls: { readonly name: string; answer: string }[] = [];
  /** Every name that was ever offered. */
  readonly offered = new Set<string>();
  /** Every request, oldest first. */
  readonly requests: ModelRequest[] = [];
  readonly #conversations: Conversation[];
  #isOpen = false;

  constructor(...conversations: Conversation[]) {
    this.#conversations = conversations;
  }

  /** Names of the bridge's tools that were offered, without what the client puts before them. */
  bridgeTools(known: readonly string[]): string[] {
    return known.filter((tool) => this.offered.has(nameOffered(tool, this.offered)));
  }

  next(request: ModelRequest): ModelTurn {
    this.requests.push(request);
    for (const name of request.tools) this.offered.add(name);
    const [conversation] = this.#conversations;
    // Titles and summaries are asked without tools.
    if (request.tools.length === 0 || conversation === undefined) return { say: 'A scripted session' };
    const answer = request.results.join('\n');
    const last = this.calls.at(-1);
    if (last !== undefined && this.#isOpen) last.answer = answer;
    const step = conversation.next(answer);
    this.#isOpen = step.done !== true;
    if (step.done === true) {
      this.#conversations.shift();
      return { say: step.value };
    }
    this.calls.push({ name: step.value.name, answer: '' });
    return { call: { ...step.value, name: nameOffered(step.value.name, this.offered) } };
  }
}

/** The name as it is offered; the tool's own where it is not. */
function nameOffered(tool: string, offered: ReadonlySet<string>): string {
  const names = [...offered].filter((name) => name === tool || /[^a-z0-9]$/i.test(before(name, tool)));
  return names.find((name) => OF_BRIDGE.test(name)) ?? names[0] ?? tool;
}

function before(name: string, tool: string): string {
  return name.endsWith(tool) ? name.slice(0, -tool.length) : '';
}

/** The first value of a field in an answer, whether it is JSON, JSON within JSON, or text; empty where it has none. */
export function fieldIn(answer: string, field: string): string {
  return fieldsIn(answer, field)[0] ?? '';
}

/** All values of a field, in order. */
export function fieldsIn(answer: string, field: string): string[] {
  const pattern = new RegExp(`\\b${field}\\\\*"?: ?\\\\*"?([^\\s"\\\\,]+)`, 'g');
  return [...answer.matchAll(pattern)].map(([, value = '']) => value);
}
