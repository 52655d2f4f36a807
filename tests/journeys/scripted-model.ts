import type { ScriptedRequest, ScriptedTurn } from '../../src/cli/demo/scripted-api.js';
import { says } from '../harness/scripted-turns.js';

/** A model of which each test says anew what it does; for one session at a time. */
export class ScriptedModel {
  #turns: ScriptedTurn[] = [];
  #requests: ScriptedRequest[] = [];

  /** What it does from now on, turn by turn; then it says `Done.` */
  does(...turns: readonly ScriptedTurn[]): void {
    this.#turns = [...turns];
    this.#requests = [];
  }

  /** What it was sent since then. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests;
  }

  /** What it was told of its tools since then. */
  get told(): readonly string[] {
    return this.#requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  }

  /** For `sharedBridge`. */
  readonly script = (request: ScriptedRequest): ScriptedTurn => {
    if (request.kind !== 'turn') return says('Done.');
    this.#requests.push(request);
    return this.#turns.shift() ?? says('Done.');
  };
}
