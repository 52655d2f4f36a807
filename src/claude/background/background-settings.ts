// Pure: the settings of a background session.

/**
 * Adds to the settings of the hooks what a background session needs: its variables, and that it works in its folder. Otherwise it
 * refuses to edit files in a git repository before it has made a worktree.
 */
export function backgroundSettings(hooks: string, variables: Readonly<Record<string, string>>): string {
  const settings: unknown = JSON.parse(hooks);
  return JSON.stringify({
    ...(typeof settings === 'object' ? settings : {}),
    env: variables,
    worktree: { bgIsolation: 'none' },
  });
}
