import { ignoreBridgeError } from '../base/ignore-bridge-error.js';
import type { Installation } from '../claude/installation.js';
import { unchecked, type Finding } from './check.js';
import type { DoctorContext } from './context.js';

/** The program of tasks, or why a check about it is not possible. */
export async function foundClaude(
  context: DoctorContext,
): Promise<{ readonly installation: Installation } | { readonly finding: Finding }> {
  const { config } = await context.settings();
  if (config.task_container.image !== null)
    return { finding: unchecked('tasks run Claude Code of a container.') };
  const installation = await context.installation().catch(ignoreBridgeError);
  return installation === undefined ? { finding: unchecked('Claude Code was not found.') } : { installation };
}
