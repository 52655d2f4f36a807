// Pure: what an answer grants beyond the one request.
import { z } from 'zod';
import type { SessionAllowance } from './session.js';

const WIDENING: ReadonlySet<string> = new Set(['setMode', 'addDirectories']);
const suggestionSchema = z.looseObject({ type: z.string() });

/**
 * The updates of permissions that go with an answer about `tool`: those of a yes for the session, and the mode that follows a
 * plan. For a command there are none: the CLI would suggest a rule that ends with `*`; the bridge remembers the command itself.
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
 * The CLI's own suggestions, narrowed to the session. Their destination is often a settings file of the project, which
 * would outlive the session; a change of mode, and a further folder (which commands in a sandbox could then write), would
 * allow far more than was asked: they are left out.
 */
function sessionPermissions(suggestions: readonly unknown[]): Record<string, unknown>[] {
  return suggestions.flatMap((suggestion) => {
    const parsed = suggestionSchema.safeParse(suggestion);
    if (!parsed.success || WIDENING.has(parsed.data.type)) return [];
    return [{ ...parsed.data, destination: 'session' }];
  });
}
