import { z } from 'zod';
import type { JournalEntry } from '../../store/journal-line.js';
import type { TaskRecord } from '../task.js';

const NOTE =
  'Claude Code ran no hook of the bridge, so this task was followed by its screen alone. A setting of Claude Code (disableAllHooks) or a policy of this machine forbids hooks: allow those to http://127.0.0.1.';
const turnSchema = z.looseObject({ source: z.enum(['exact', 'observed']) });

/** Whether a session of Claude Code in a terminal was followed without hooks, by the turns in its journal. */
export class HooksNote {
  readonly #mayHave: boolean;
  #exact = 0;
  #observed = 0;

  constructor({ driver, cli_version }: Pick<TaskRecord, 'driver' | 'cli_version'>) {
    this.#mayHave = driver !== 'print' && cli_version !== null;
  }

  take(entry: JournalEntry): void {
    if (entry.type !== 'turn-started' && entry.type !== 'turn-ended') return;
    const source = turnSchema.safeParse(entry).data?.source;
    if (source === 'exact') this.#exact++;
    else if (source === 'observed' && entry.type === 'turn-ended') this.#observed++;
  }

  get lines(): readonly string[] {
    return this.#mayHave && this.#exact === 0 && this.#observed > 0 ? [NOTE] : [];
  }
}
