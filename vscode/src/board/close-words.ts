/** The code with which the board closes a connection beyond its limit (https://www.iana.org/assignments/websocket). */
const TOO_MANY = 1013;

/** Why the board has closed a connection. */
export function closeWords(code: number): string {
  return code === TOO_MANY
    ? 'The board has as many pages and windows as it takes: close one.'
    : 'The board has ended.';
}
