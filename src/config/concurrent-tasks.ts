// Pure: how many tasks a machine bears at once.

/** A session waits for its model most of the time. */
const TASKS_PER_CORE = 10;
/** What Claude Code, its tools and the keeper take together while they work. */
const BYTES_PER_TASK = 512 * 1024 * 1024;
/** The rest is for the user's own programs, and for what the tasks run. */
const MEMORY_SHARE = 0.5;
const LEAST = 2;
const MOST = 64;

/** What `max_concurrent_tasks` means: its own value, or for 0 what the machine bears. */
export function concurrentTasks(
  setting: number,
  machine: { readonly cores: number; readonly memoryBytes: number },
): number {
  if (setting > 0) return setting;
  const byMemory = Math.floor((machine.memoryBytes * MEMORY_SHARE) / BYTES_PER_TASK);
  return Math.min(MOST, Math.max(LEAST, Math.min(machine.cores * TASKS_PER_CORE, byMemory)));
}
