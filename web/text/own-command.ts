/** A command line that works for this installation, where the page was told how. */
export function ownCommand(words: string): string {
  const command = document.querySelector<HTMLMetaElement>('meta[name=command]')?.content;
  return `${command ?? 'claude-code-bridge'} ${words}`;
}
