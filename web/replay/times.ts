// Pure.
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** A moment of a recording on a few characters: `0:05`, `12:40`, `1:02:03`. */
export function momentWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (part: number): string => String(part).padStart(2, '0');
  const hours = Math.floor(seconds / HOUR);
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(seconds % MINUTE)}`;
}

/** The same for a screen reader. */
export function spokenMoment(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const parts = [
    [Math.floor(seconds / HOUR), 'hour'],
    [Math.floor((seconds % HOUR) / MINUTE), 'minute'],
    [seconds % MINUTE, 'second'],
  ] as const;
  const said = parts.filter(([count], at) => count > 0 || at === parts.length - 1);
  return said.map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`).join(' ');
}
