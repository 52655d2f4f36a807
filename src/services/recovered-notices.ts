import { readJsonFile } from '../base/files/json-file.js';
import { messageOf } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { StateDir } from '../store/state-dir.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import type { Decision, TaskRecord } from '../tasks/task.js';

export interface RecoveredNoticesParts {
  readonly stateDir: Pick<StateDir, 'specFile'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends the notices that no keeper sends, by the settings that the task was started with: of an end whose keeper was killed, and of a late answer. */
export class RecoveredNotices implements Disposable {
  readonly #parts: RecoveredNoticesParts;
  readonly #open = new Set<Disposable>();

  constructor(parts: RecoveredNoticesParts) {
    this.#parts = parts;
  }

  /** The end, or that an answer to `late` changed nothing. Returns at once; what cannot be sent is logged. */
  send(record: TaskRecord, late?: Decision): void {
    void this.#send(record, late).catch((error: unknown) =>
      this.#parts.logger.warn('A notice of a task could not be sent', {
        task_id: record.task_id,
        error: messageOf(error),
      }),
    );
  }

  dispose(): void {
    for (const notices of this.#open) notices.dispose();
  }

  async #send(record: TaskRecord, late?: Decision): Promise<void> {
    const { stateDir, ...parts } = this.#parts;
    const spec = await readJsonFile(stateDir.specFile(record.task_id), taskSpecSchema);
    const settings = spec.state === 'ok' ? spec.value.settings.notify : undefined;
    if (settings === undefined) return;
    const { openNotices } = await import('../keeper/notices/open-notices.js');
    const task = { record, onDidChange: new Emitter<TaskRecord>().event };
    const notices = openNotices({ task, settings, ...parts });
    this.#open.add(notices);
    await notices.finish(late);
    this.#open.delete(notices);
    notices.dispose();
  }
}
