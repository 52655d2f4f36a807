import type { Event } from '../../src/base/lifecycle.js';
import { until } from './until.js';

/** Records every event and hands them out by type, in order, also those that came before they were asked for. */
export class EventLog<T extends { readonly type: string }> {
  readonly all: T[] = [];
  readonly #taken = new Map<string, number>();

  constructor(event: Event<T>) {
    event((value) => this.all.push(value));
  }

  /** The next event of that type that was not handed out yet. */
  async next<Type extends T['type']>(type: Type): Promise<Extract<T, { type: Type }>> {
    const isWanted = (value: T): value is Extract<T, { type: Type }> => value.type === type;
    const index = this.#taken.get(type) ?? 0;
    this.#taken.set(type, index + 1);
    const [found] = await until(`an event '${type}'`, () => {
      const wanted = this.all.filter(isWanted).slice(index, index + 1);
      return wanted.length > 0 && wanted;
    });
    if (found === undefined) throw new Error(`no event '${type}'`);
    return found;
  }
}
