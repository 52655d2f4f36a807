import { readJsonFile } from '../base/files/json-file.js';
import { messageOf } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { StateDir } from '../store/state-dir.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { TaskRecord } from '../tasks/task.js';

export interface RecoveredNoticesParts {
  readonly stateDir: Pick<StateDir, 'specFile'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends the notice of an end that a keeper could not send, since it was killed; by the settings that the task was started with. */
export class RecoveredNotices implements Disposable {
  readonly #parts: RecoveredNoticesParts;
  readonly #open = new Set<Disposable>();

  constructor(parts: RecoveredNoticesParts) {
    this.#parts = parts;
  }

  /** Returns at once; what cannot be sent is logged. */
  send(record: TaskRecord): void {
    void this.#send(record).catch((error: unknown) =>
      this.#parts.logger.warn('No notice of a task that was ended could be sent', {
        task_id: record.task_id,
        error: messageOf(error),
      }),
    );
  }

  dispose(): void {
    for (const notices of this.#open) notices.dispose();
  }

  async #send(record: TaskRecord): Promise<void> {
    const { stateDir, ...parts } = this.#parts;
    const spec = await readJsonFile(stateDir.specFile(record.task_id), taskSpecSchema);
    const settings = spec.state === 'ok' ? spec.value.settings.notify : undefined;
    if (settings === undefined) return;
    const { openNotices } = await import('../keeper/notices/open-notices.js');
    const task = { record, onDidChange: new Emitter<TaskRecord>().event };
    const notices = openNotices({ task, settings, ...parts });
    this.#open.add(notices);
    await notices.finish();
    this.#open.delete(notices);
    notices.dispose();
  }
}
