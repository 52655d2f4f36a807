// Pure: what "allow for this session" grants.
import { z } from 'zod';

const suggestionSchema = z.looseObject({ type: z.string() });

/**
 * The CLI's own suggestions, narrowed to the session. Their destination is often a settings file of the project, which
 * would outlive the session; and a change of mode would allow far more than was asked: both are left out.
 */
export function sessionPermissions(suggestions: readonly unknown[]): Record<string, unknown>[] {
  return suggestions.flatMap((suggestion) => {
    const parsed = suggestionSchema.safeParse(suggestion);
    if (!parsed.success || parsed.data.type === 'setMode') return [];
    return [{ ...parsed.data, destination: 'session' }];
  });
}
