/** Files with which an administrator sets rules for Claude Code, and folders of such files, on Linux and macOS. */
export const managedSettingsPlaces: readonly string[] = [
  '/etc/claude-code/managed-settings.json',
  '/etc/claude-code/managed-settings.d',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.d',
];
