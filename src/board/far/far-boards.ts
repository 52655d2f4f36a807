import type { Clock } from '../../base/clock.js';
import { BridgeError, isErrorCode } from '../../base/errors.js';
import { farIdOf } from '../../base/ids.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { Machine, Machines } from '../../machines/machine.js';
import type { Put } from '../channel.js';
import { leftWith, refresher } from '../feed.js';
import type { ActionError, ClientAction, Outcome } from '../protocol.js';
import { boardOf, type Values } from '../state.js';
import type { PageTerminal } from '../terminal-stream.js';
import { FarBoard } from './far-board.js';
import { FarTerminal, type FarTerminalOptions } from './far-terminal.js';

/** What is done in a terminal is done over the connection of that terminal. */
export type FarAction = Exclude<ClientAction, { readonly type: `term.${string}` }>;

/** Starts a task there, within what the settings here allow; `args` are those of `start_task`. Gives its id here. Throws BridgeError. */
export type StartThere = (machine: Machine, args: object) => Promise<string>;

/** The boards of all machines, as this one shows them. All methods but `openBoard` throw MACHINE_NOT_FOUND. */
export class FarBoards {
  readonly #machines: Machines;
  readonly #start: StartThere;
  readonly #clock: Clock;
  readonly #boards = new Map<string, FarBoard>();

  constructor(machines: Machines, start: StartThere, clock: Clock) {
    this.#machines = machines;
    this.#start = start;
    this.#clock = clock;
  }

  /** Puts the overview of this machine, which `openHome` puts, with those of all others. */
  async openBoard(openHome: (put: Put) => Promise<Disposable>, put: Put): Promise<Disposable> {
    const owned = new DisposableStore();
    let home: Values = new Map();
    const putAll = (): void => put(new Map([...home, ...this.#all().flatMap(({ shown }) => [...shown])]));
    const again = refresher(this.#clock, leftWith(owned), async () => putAll());
    owned.add(
      await openHome((values) => {
        home = values;
        putAll();
      }),
    );
    for (const board of this.#all()) owned.add(board.followOverview(again));
    putAll();
    return owned;
  }

  /** Puts the values of a channel of a task over there; resolves when they are there for the first time. Throws what the far side refuses. */
  async openChannel(channel: string, machine: string, put: Put): Promise<Disposable> {
    const owned = new DisposableStore();
    const board = this.#board(machine);
    let values: Values | undefined;
    const again = refresher(this.#clock, leftWith(owned), async () => values && put(values));
    return new Promise((resolve, reject) => {
      const changed = (now: Values): void => {
        values = now;
        again();
        resolve(owned);
      };
      const refused = ({ code, message, hint }: ActionError): void => {
        if (values !== undefined && code === 'TASK_NOT_FOUND')
          return changed(new Map([...values, ['task', null]]));
        if (values !== undefined) return;
        owned.dispose();
        reject(new BridgeError(isErrorCode(code) ? code : 'INTERNAL_ERROR', message, hint));
      };
      owned.add(board.follow(channel.replace(`${machine}/`, ''), { changed, refused }));
    });
  }

  /** Does what a page asks for on the machine that its task is on, or starts on. Throws as `start` does. */
  async act(machine: string, action: FarAction): Promise<Outcome> {
    const board = this.#board(machine);
    const start = async (args: object): Promise<Outcome> => ({
      ok: true,
      task_id: await this.#start(this.#machines.get(machine), args),
    });
    if (action.type === 'task.start') {
      const { type: _type, machine: _machine, ...args } = action;
      return start(args);
    }
    const task_id = farIdOf(action.task_id)?.id ?? action.task_id;
    if (action.type !== 'task.continue') return board.act({ ...action, task_id });
    const card = boardOf(board.shown).tasks[action.task_id];
    if (card === undefined) return board.act({ ...action, task_id });
    const { can_continue, project_path: path, permission_mode, model } = card;
    const how = { permission_mode, on_conflict: 'queue', ...(model !== null && { model }) };
    return start({ prompt: action.text, ...(can_continue ? { continue_from: task_id } : { path }), ...how });
  }

  openTerminal(terminal: FarTerminalOptions): PageTerminal {
    return new FarTerminal(terminal, this.#machines.get(terminal.machine), this.#clock);
  }

  #all(): readonly FarBoard[] {
    return this.#machines.all.map(({ name }) => this.#board(name));
  }

  #board(name: string): FarBoard {
    const board = this.#boards.get(name) ?? new FarBoard(this.#machines.get(name), this.#clock);
    this.#boards.set(name, board);
    return board;
  }
}
