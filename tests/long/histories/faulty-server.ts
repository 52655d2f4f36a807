import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpClient } from '../../harness/mcp-clients.js';
import { serverEntry, type TestBridge } from '../../harness/start-bridge.js';
import { onlyChild, type PidNamespace } from './pid-namespace.js';

const jumpingClock = fileURLToPath(new URL('../../fixtures/programs/jumping-clock.cjs', import.meta.url));

interface RunningServer {
  readonly name: string;
  readonly client: McpClient;
  readonly pid: number;
}

/** A server that may be killed at any moment: another one takes its place then, with the same clock, in the same namespace. */
export class FaultyServer {
  readonly #bridge: TestBridge;
  readonly #name: string;
  readonly #clockFile: string;
  readonly #namespace: PidNamespace | undefined;
  #count = 0;
  #running: Promise<RunningServer>;

  constructor(bridge: TestBridge, name: string, namespace?: PidNamespace) {
    this.#bridge = bridge;
    this.#name = name;
    this.#clockFile = join(bridge.workplace.root, `clock-${name}`);
    this.#namespace = namespace;
    this.#running = this.#start();
  }

  /** The server that runs now, or the next one as soon as it runs. */
  get running(): Promise<RunningServer> {
    return this.#running;
  }

  /** Starts the next one, after the last one was killed. */
  restart(): void {
    this.#running = this.#start();
  }

  /** The wall clock of this server, of those that follow it, and of the keepers that they start. */
  async setClock(offsetMs: number): Promise<void> {
    await writeFile(this.#clockFile, String(offsetMs));
  }

  async #start(): Promise<RunningServer> {
    const name = `${this.#name}.${++this.#count}`;
    const program = [process.execPath, serverEntry] as const;
    const { mcp: client } = await this.#bridge.another('modern', {
      command: this.#namespace?.command(program) ?? program,
      env: { NODE_OPTIONS: `--require=${jumpingClock}`, JUMPING_CLOCK: this.#clockFile },
    });
    const pid = this.#namespace === undefined ? client.pid : await onlyChild(client.pid);
    return { name, client, pid };
  }
}
