/** Asks before a link of a terminal is opened, and shows where it leads; other schemes are not opened. */
export function openLink(uri: string): void {
  let url: URL;
  try {
    url = new URL(uri);
  } catch {
    // No address: there is nothing to open.
    return;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return;
  if (confirm(`Open this address, which the session printed?\n\n${url.href}`))
    open(url.href, '_blank', 'noopener,noreferrer');
}
