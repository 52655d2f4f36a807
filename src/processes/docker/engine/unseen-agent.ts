// Pure.
import type { Agent } from 'node:http';
import { inspect } from 'node:util';

/**
 * Has `inspect` show an agent as a few words. docker-modem 5 writes out every request for its log, whether or not there is one,
 * with the agent and all that hangs on each of its open sockets: with fifty containers that takes a second of the processor
 * for each request.
 */
export function leaveUnseen(agent: Agent): void {
  Object.defineProperty(agent, inspect.custom, { value: () => 'the connections to the engine' });
}
