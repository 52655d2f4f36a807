/** How long a keeper whose task or process ended while its disk was full tries to write the end. Then a server calls it ended without a word. */
export const FULL_DISK_LIMIT_MS = 15 * 60_000;
