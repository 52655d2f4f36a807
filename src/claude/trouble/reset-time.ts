// Pure: parses the time at which a limit ends from the CLI's text for people.

const DAY_MS = 24 * 3_600_000;
/** A time of day that has passed less than this ago is today's: the text has whole minutes, and clocks differ. */
const PAST_MS = 3_600_000;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `resets 9:31am (UTC)`, `resets 3pm`, `resets Nov 25, 9:44am (Europe/Berlin)`, `resets Jan 2, 2027, 9am (UTC)`. */
const resetPattern =
  /\bresets (?:at )?(?:([A-Z][a-z]{2}) (\d{1,2})(?:, (\d{4}))?(?:, | at ))?(\d{1,2})(?::(\d{2}))? ?([ap]m)\b(?: \(([A-Za-z0-9_+\-/]{1,64})\))?/i;
/** Versions before 2.1 wrote seconds since the epoch. */
const epochPattern = /limit reached\|(\d{10})\b/;

interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/**
 * The reset time in `text`, in milliseconds since the epoch, or undefined. The text has whole minutes, so the limit may end up to a
 * minute later. A time without a date is the next such time, or one that has just passed. `zone` is the CLI's time zone, for a text
 * without one. With an unknown zone the time is unknown.
 */
export function resetTimeOf(text: string, nowMs: number, zone?: string): number | undefined {
  const epoch = epochPattern.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const match = resetPattern.exec(text);
  if (match === null) return undefined;
  const [, monthName, day, year, hourText = '', minuteText = '0', half = '', namedZone = zone] = match;
  const minute = Number(minuteText);
  const hour = hourOf(Number(hourText), half.toLowerCase() === 'pm');
  if (hour === undefined || minute > 59) return undefined;
  const today = wallTimeAt(nowMs, namedZone);
  if (today === undefined) return undefined;
  if (monthName === undefined) {
    const atMs = epochOf({ ...today, hour, minute }, namedZone);
    // Computed from the next day's date instead of adding 24 hours, since days differ in length.
    if (atMs >= nowMs - PAST_MS) return atMs;
    const tomorrow = wallTimeAt(atMs + DAY_MS, namedZone) ?? today;
    return epochOf({ ...tomorrow, hour, minute }, namedZone);
  }
  const month = MONTHS.indexOf(monthName.toLowerCase()) + 1;
  if (month === 0) return undefined;
  const date = { month, day: Number(day), hour, minute };
  const atMs = epochOf({ ...date, year: year === undefined ? today.year : Number(year) }, namedZone);
  // Without a year it is the current one, or at the end of a year perhaps the next.
  return year === undefined && atMs < nowMs - PAST_MS
    ? epochOf({ ...date, year: today.year + 1 }, namedZone)
    : atMs;
}

function hourOf(hour: number, isAfternoon: boolean): number | undefined {
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (isAfternoon ? 12 : 0);
}

/** The wall clock time in `zone`; undefined for an unknown zone. */
function wallTimeAt(atMs: number, zone: string | undefined): WallTime | undefined {
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      ...(zone !== undefined && { timeZone: zone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    }).formatToParts(atMs);
    const of = (type: Intl.DateTimeFormatPartTypes): number =>
      Number(parts.find((part) => part.type === type)?.value);
    return {
      year: of('year'),
      month: of('month'),
      day: of('day'),
      hour: of('hour'),
      minute: of('minute'),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The time at which clocks in `zone` show this; either one, if they show it twice. */
function epochOf(wall: WallTime, zone: string | undefined): number {
  const asUtcMs = utcOf(wall);
  let atMs = asUtcMs;
  // The second round uses the zone's offset at the first result, which may differ from that at the first guess.
  for (let round = 0; round < 2; round++) {
    const shown = wallTimeAt(atMs, zone);
    if (shown === undefined) return atMs;
    atMs += asUtcMs - utcOf(shown);
  }
  return atMs;
}

function utcOf({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}
