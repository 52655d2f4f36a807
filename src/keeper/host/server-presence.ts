import type { Disposable } from '../../base/lifecycle.js';
import type { TaskRecord } from '../../tasks/task.js';
import { KeeperClient } from './keeper-client.js';

export type KeptTask = Pick<TaskRecord, 'task_id' | 'socket_path'>;

/** `staying`: connected from now on. `not-needed`: the task goes on without a server. `gone`: there is no keeper, or no longer one. */
export type Stay = 'staying' | 'not-needed' | 'gone';

/**
 * Keeps this server connected to the tasks that end without one. The connections delay neither the end of this process nor that
 * of a task.
 */
export class ServerPresence implements Disposable {
  readonly #links = new Map<string, KeeperClient>();
  /** Keepers that have not reported yet whether they need a server. */
  readonly #asked = new Set<KeeperClient>();
  #isDisposed = false;

  /** Stays with a task until it ends; does nothing for a task that needs no server. Throws TASK_UNREACHABLE. */
  async stay({ task_id, socket_path }: KeptTask): Promise<Stay> {
    if (this.#links.has(task_id)) return 'staying';
    const link = await KeeperClient.connect(task_id, socket_path, 'server');
    if (link === undefined) return 'gone';
    let isThere = true;
    link.onDidClose(() => {
      isThere = false;
      if (this.#links.get(task_id) === link) this.#links.delete(task_id);
    });
    link.unref();
    if (this.#isDisposed) link.dispose();
    this.#asked.add(link);
    const hello = await link.greeted;
    this.#asked.delete(link);
    if (!isThere) return 'gone';
    if (hello?.needs_server !== true) {
      link.dispose();
      return 'not-needed';
    }
    if (this.#links.has(task_id)) link.dispose();
    else this.#links.set(task_id, link);
    return 'staying';
  }

  get count(): number {
    return this.#links.size;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const link of [...this.#links.values(), ...this.#asked]) link.dispose();
    this.#links.clear();
    this.#asked.clear();
  }
}
