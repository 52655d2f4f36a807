import { BridgeError } from '../../src/base/errors.js';
import { Emitter } from '../../src/base/lifecycle.js';
import type { PagePort } from '../../src/board/page-port.js';
import type { FarIdentity } from '../../src/machines/link-protocol.js';
import type { Channel, Machine, Machines, MachineState } from '../../src/machines/machine.js';

const far: FarIdentity = {
  ...{ protocol: 1, machine_id: null, state_id: 's', version: '0.0.0', home: '/home/bob', hostname: 'gpu-1' },
  now: '2026-03-01T10:00:00.000Z',
};

/** A machine whose line can be cut: `serve` gets the far end of each channel. */
export class FakeMachine implements Machine {
  readonly name: string;
  readonly #serve: (port: PagePort) => void;
  readonly #states = new Emitter<MachineState>();
  readonly #cuts = new Emitter<string>();
  readonly onState = this.#states.event;
  state: MachineState = { how: 'closed' };
  clockOffsetMs = 0;
  /** Channels that are open now. */
  open = 0;
  tries = 0;
  /** What the near end sends is lost, and no answer comes. */
  isDeaf = false;

  constructor(name: string, serve: (port: PagePort) => void) {
    this.name = name;
    this.#serve = serve;
  }

  async openChannel(): Promise<Channel> {
    this.tries++;
    if (this.state.how === 'unverifiable') throw new Error(this.state.why);
    if (this.state.how !== 'live') this.#become({ how: 'live', far });
    const [near, there] = [new Emitter<string | Uint8Array>(), new Emitter<string | Uint8Array>()];
    const [nearEnd, thereEnd] = [new Emitter<string>(), new Emitter<string>()];
    let [isOpen, isCut] = [true, false];
    this.open++;
    const end = (why: string, isLost = false): void => {
      if (!isOpen) return;
      [isOpen, isCut] = [false, isLost];
      this.open--;
      cut.dispose();
      // Behind what was sent before.
      for (const one of [nearEnd, thereEnd]) setImmediate(() => one.fire(why));
    };
    const cut = this.#cuts.event((why) => end(why, true));
    const pass = (to: Emitter<string | Uint8Array>) => (data: string | Uint8Array) => {
      if (isOpen && !this.isDeaf) setImmediate(() => !isCut && to.fire(data));
    };
    const shared = { taken: () => undefined, dispose: () => end('It was closed.') };
    const port = { onData: there.event, onClose: thereEnd.event, send: pass(near), refuse: end, queued: 0 };
    this.#serve({ ...shared, ...port });
    return { ...shared, onData: near.event, onClose: nearEnd.event, send: pass(there) };
  }

  cut(): void {
    this.#become({ how: 'unverifiable', sinceMs: Date.now(), why: 'no answer to a heartbeat' });
    this.#cuts.fire('The line is cut.');
  }

  mend(): void {
    this.#become({ how: 'live', far });
  }

  call(): Promise<never> {
    return Promise.reject(new Error('the board calls no method'));
  }

  callTool(): Promise<never> {
    return Promise.reject(new Error('the board calls no tool'));
  }

  #become(state: MachineState): void {
    this.state = state;
    this.#states.fire(state);
  }
}

export function machinesOf(...all: readonly Machine[]): Machines {
  return {
    all,
    get: (name) => {
      const found = all.find((one) => one.name === name);
      if (found === undefined) throw new BridgeError('MACHINE_NOT_FOUND', `There is no ${name}.`, 'Add it.');
      return found;
    },
    dispose: () => undefined,
  };
}
