import { chmod, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { createServer, type Server, type Socket } from 'node:net';
import { withinMs, type Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { err, ok, type Result } from '../processes/result.js';
import type { RunningProcess } from '../processes/running-process.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { PROCESS_PROTOCOL, processWishSchema, type ProcessWish } from './process-messages.js';

/** Who asks and does not read the answers is dropped before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** What is being answered when the process ends is told still: all of it ends with the process. */
const LAST_ANSWERS_MS = 2_000;
/** A client that does not take its last lines is not waited for longer. */
const GOODBYE_MS = 1_000;

/** Serves one process on a Unix socket, to any number of servers. */
export class ProcessKeeperServer {
  readonly #running: RunningProcess;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #answering = new Set<Promise<void>>();

  private constructor(running: RunningProcess, path: string, clock: Clock) {
    this.#running = running;
    this.#clock = clock;
    this.#path = path;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Listens, for this user alone; a socket that a dead keeper left there is replaced. */
  static async start(running: RunningProcess, path: string, clock: Clock): Promise<ProcessKeeperServer> {
    const keeper = new ProcessKeeperServer(running, path, clock);
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      keeper.#server.once('error', reject);
      keeper.#server.listen(path, resolve);
    });
    await chmod(path, 0o600);
    return keeper;
  }

  /** Tells all that it has ended, and stops. */
  async end(): Promise<void> {
    this.#server.close();
    // Whoever asked for the end is told of it.
    await withinMs(this.#clock, LAST_ANSWERS_MS, Promise.all(this.#answering));
    const left = [...this.#sockets].map(async (socket) => {
      this.#tell(socket);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.end();
      await withinMs(this.#clock, GOODBYE_MS, closed);
      socket.destroy();
    });
    await Promise.all(left);
    await rm(this.#path, { force: true });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    readJsonLines(socket, (value) => {
      const answering = this.#onLine(socket, value).finally(() => this.#answering.delete(answering));
      this.#answering.add(answering);
    });
    this.#tell(socket);
  }

  #tell(socket: Socket): void {
    writeJsonLine(socket, { push: 'record', protocol: PROCESS_PROTOCOL, record: this.#running.record });
  }

  async #onLine(socket: Socket, value: unknown): Promise<void> {
    const wish = processWishSchema.safeParse(value);
    // Of another version, or no peer of ours: it is told nothing, and gives up by its own limit.
    if (!wish.success) return void socket.destroy();
    const { id } = wish.data;
    let answer: Result<unknown>;
    try {
      answer = await this.#answer(wish.data);
    } catch (fault) {
      answer = err('SPAWN_FAILED', `The keeper met a fault of its own: ${messageOf(fault)}.`, 'Try again.');
    }
    if (socket.writableLength > MAX_UNREAD_BYTES) return void socket.destroy();
    if (answer.ok) writeJsonLine(socket, { id, value: answer.value ?? null });
    else {
      const { code, message, hint } = answer.fault;
      writeJsonLine(socket, { id, fault: { code, message, hint } });
    }
  }

  async #answer(wish: ProcessWish): Promise<Result<unknown>> {
    const running = this.#running;
    switch (wish.method) {
      case 'write':
        return running.write(Buffer.from(wish.bytes, 'base64'));
      case 'end_input':
        return running.endInput();
      case 'press':
        return running.press(wish.keys);
      case 'resize':
        return running.resize(wish.size);
      case 'signal':
        return isSignal(wish.name)
          ? running.signal(wish.name, { tree: wish.tree })
          : unknownSignal(wish.name);
      case 'kill':
        return isSignal(wish.first) ? running.kill(wish.first) : unknownSignal(wish.first);
      case 'stats':
        return running.stats();
      case 'printed':
        return ok(await running.printed());
      case 'until_prints':
        return running.untilPrints(wish.bytes, wish.limit_ms);
      case 'screen':
        return running.screen();
    }
  }
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

function unknownSignal(name: string) {
  return err('UNKNOWN_NAME', `There is no signal ${JSON.stringify(name)}.`, 'Give one such as SIGTERM.');
}
