import { useEffect, useState } from 'preact/hooks';

/** What has just appeared takes no yes: it may stand where something else was clicked. */
const INERT_MS = 500;

/** False for half a second after `key` changed. */
export function useLater(key: string): boolean {
  const [live, setLive] = useState<string | undefined>();
  useEffect(() => {
    const timer = setTimeout(() => setLive(key), INERT_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return live === key;
}
