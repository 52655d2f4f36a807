// Pure: the requests of a session whose dialogs stand in its terminal.
import { isDeepStrictEqual } from 'node:util';
import type { PermissionRequestEvent } from '../claude/tool-requests.js';
import type { SessionRequest } from '../claude/session.js';

/** What a hook answers; without fields it leaves everything to the person. */
export type HookAnswer = Readonly<Record<string, unknown>>;

export interface StandingRequest {
  readonly request: SessionRequest;
  readonly event: PermissionRequestEvent;
  /** Undefined for one that is left to the person. */
  readonly reply: ((answer: HookAnswer) => void) | undefined;
}

/** Requests whose dialogs stand, oldest first: those that wait for an answer of the bridge, and those that are left to the person. */
export class StandingRequests {
  readonly #standing = new Map<string, StandingRequest>();

  get size(): number {
    return this.#standing.size;
  }

  /** The oldest one that is left to the person. */
  get left(): StandingRequest | undefined {
    return [...this.#standing.values()].find(({ reply }) => reply === undefined);
  }

  add(standing: StandingRequest): void {
    this.#standing.set(standing.request.requestId, standing);
  }

  /** One that waits for an answer; undefined when it no longer does. */
  asked(requestId: string): StandingRequest | undefined {
    const found = this.#standing.get(requestId);
    return found?.reply === undefined ? undefined : found;
  }

  /** Removes a request, if it stands. */
  take(requestId: string): StandingRequest | undefined {
    const found = this.#standing.get(requestId);
    this.#standing.delete(requestId);
    return found;
  }

  takeAll(): StandingRequest[] {
    const all = [...this.#standing.values()];
    this.#standing.clear();
    return all;
  }

  /** Removes the oldest request for this use of a tool. */
  takeFor(tool: string, input: Readonly<Record<string, unknown>>): StandingRequest | undefined {
    const found = [...this.#standing.values()].find(({ request }) => isFor(request, tool, input));
    return found === undefined ? undefined : this.take(found.request.requestId);
  }
}

/** Whether a tool was used as it was asked; an answer at the terminal may have added fields to its input. */
export function isFor(
  request: Pick<SessionRequest, 'tool' | 'input'>,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): boolean {
  if (request.tool !== tool) return false;
  if (Object.keys(request.input).length === 0) return Object.keys(input).length === 0;
  return Object.entries(request.input).every(([field, value]) => isDeepStrictEqual(input[field], value));
}
