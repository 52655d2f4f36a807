import { z } from 'zod';
import type { BoardState } from '../../../../src/board/state.js';

const KEY = 'taskTerminals';
const storedSchema = z.array(z.string());

/** What the editor stores for this workspace. */
export interface WorkspaceMemory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** Which terminals of tasks are open in this window: they are opened again after a reload. */
export class OpenTerminals {
  readonly #memory: WorkspaceMemory;

  constructor(memory: WorkspaceMemory) {
    this.#memory = memory;
  }

  get taskIds(): readonly string[] {
    return storedSchema.safeParse(this.#memory.get(KEY)).data ?? [];
  }

  async add(taskId: string): Promise<void> {
    if (!this.taskIds.includes(taskId)) await this.#memory.update(KEY, [...this.taskIds, taskId]);
  }

  async remove(taskId: string): Promise<void> {
    await this.#keep((one) => one !== taskId);
  }

  /** Those of before whose tasks still run; the others are forgotten. */
  async ofBefore({ tasks }: BoardState): Promise<readonly string[]> {
    await this.#keep((one) => tasks[one]?.is_final === false);
    return this.taskIds;
  }

  async #keep(isKept: (taskId: string) => boolean): Promise<void> {
    const kept = this.taskIds.filter(isKept);
    if (kept.length < this.taskIds.length) await this.#memory.update(KEY, kept);
  }
}
