import type { Disposable } from '../base/lifecycle.js';
import type { TaskRecord } from '../tasks/task.js';
import { KeeperClient } from './keeper-client.js';

/**
 * Keeps this server connected to the tasks that end without one. The connections hold nothing up: neither the end of this
 * process nor that of a task.
 */
export class ServerPresence implements Disposable {
  readonly #links = new Map<string, KeeperClient>();
  #isDisposed = false;

  /** Stays with a task until it ends; does nothing for a task that needs no server. */
  async stay({ task_id, socket_path }: Pick<TaskRecord, 'task_id' | 'socket_path'>): Promise<void> {
    if (this.#links.has(task_id) || this.#isDisposed) return;
    const link = await KeeperClient.connect(task_id, socket_path, 'server');
    if (link === undefined) return;
    link.unref();
    const hello = await link.greeted;
    if (hello?.needs_server !== true || this.#links.has(task_id) || this.#isDisposed) {
      link.dispose();
      return;
    }
    this.#links.set(task_id, link);
    link.onDidClose(() => this.#links.delete(task_id));
  }

  get count(): number {
    return this.#links.size;
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const link of [...this.#links.values()]) link.dispose();
    this.#links.clear();
  }
}
