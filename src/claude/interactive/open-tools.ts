import type { ToolUsed } from '../tool-events.js';
import type { ToolUse } from '../transcript-entry.js';

/** More than the tool calls that are open at the same time. */
const MAX_OPEN_TOOLS = 1_000;

/** The tool calls that hooks reported as started, and not as ended or denied. */
export class OpenTools {
  readonly #calls = new Set<ToolUsed>();

  started(id: string | undefined, tool: string, input: ToolUse['input']): void {
    if (this.#calls.size < MAX_OPEN_TOOLS) this.#calls.add({ id, tool, input });
  }

  /** Without an id, as in a request, the input tells which call it is. */
  ended(id: string | undefined, tool: string, input: ToolUse['input']): void {
    const ofTool = [...this.#calls].filter((call) => call.tool === tool);
    const call =
      ofTool.find((one) => id !== undefined && one.id === id) ??
      ofTool.find((one) => JSON.stringify(one.input) === JSON.stringify(input));
    if (call !== undefined) this.#calls.delete(call);
  }

  /** Returns that call, and forgets it; undefined where it has ended or was denied. */
  take(id: string): ToolUsed | undefined {
    const call = [...this.#calls].find((one) => one.id === id);
    if (call !== undefined) this.#calls.delete(call);
    return call;
  }

  get all(): readonly ToolUsed[] {
    return [...this.#calls];
  }

  /** Returns them, and forgets them. */
  takeAll(): ToolUsed[] {
    const calls = [...this.#calls];
    this.#calls.clear();
    return calls;
  }
}
