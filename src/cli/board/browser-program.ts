// Pure

/** The program that opens a page where a person sits at this machine; undefined elsewhere. */
export function browserProgram(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string | undefined {
  if (env['SSH_CONNECTION'] !== undefined) return undefined;
  if (platform === 'darwin') return 'open';
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  return platform === 'linux' && hasDisplay ? 'xdg-open' : undefined;
}
