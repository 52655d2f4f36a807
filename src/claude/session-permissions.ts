// Pure: the permissions that an answer grants beyond its request.
import { z } from 'zod';
import type { SessionAllowance } from './session.js';

const WIDENING: ReadonlySet<string> = new Set(['setMode', 'addDirectories']);
const suggestionSchema = z.looseObject({ type: z.string() });

/**
 * The permission updates for an answer about `tool`: those of a yes for the session, and the mode after a plan. A command gets none,
 * because the CLI suggests a rule that ends with `*`; the bridge itself stores the exact command.
 */
export function grantedPermissions(
  answer: SessionAllowance,
  tool: string,
  suggestions: readonly unknown[],
): Record<string, unknown>[] {
  return [
    ...(answer.verdict === 'allow_session' && tool !== 'Bash' ? sessionPermissions(suggestions) : []),
    ...(answer.mode === undefined ? [] : [{ type: 'setMode', mode: answer.mode, destination: 'session' }]),
  ];
}

/**
 * The CLI's suggestions, limited to the session: their destination is often a settings file of the project, which would outlive it.
 * Suggestions that change the mode or add a folder (which sandboxed commands could then write) are dropped, since they would allow far
 * more than was asked.
 */
function sessionPermissions(suggestions: readonly unknown[]): Record<string, unknown>[] {
  return suggestions.flatMap((suggestion) => {
    const parsed = suggestionSchema.safeParse(suggestion);
    if (!parsed.success || WIDENING.has(parsed.data.type)) return [];
    return [{ ...parsed.data, destination: 'session' }];
  });
}
