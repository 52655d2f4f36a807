import { parseEvent, type RecordedEvent, type Size } from './recorded-line.js';
import type { RecordingPart, RecordingParts } from './recording-parts.js';
import { wholeLines, type Line } from './whole-lines.js';

/** A place between two events of a recording; offset 0 is before the beginning of a part. */
export interface Place {
  readonly part: number;
  readonly offset: number;
  /** The time there, in milliseconds since the beginning of the recording. */
  readonly ms: number;
}

/** `begin`: in a terminal that was just made. */
export type ShownEvent = RecordedEvent | { readonly kind: 'begin'; readonly ms: number; readonly size: Size };

export interface PlacedEvent {
  readonly event: ShownEvent;
  readonly before: Place;
  readonly after: Place;
}

const FALLBACK_SIZE: Size = { columns: 80, rows: 24 };

/** The events of a recording, in order, with their times since its beginning. */
export class PlacedEvents {
  readonly #parts: RecordingParts;
  /** When each part began, by its number: never before the last event of the part before it. */
  readonly #starts = new Map<number, number>();

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /** The events after a place, some at a time. Where that is gone, it goes on with the first part that is there. */
  async *after(from: Place): AsyncGenerator<readonly PlacedEvent[]> {
    let place = from;
    for (const part of this.#parts.list) {
      if (part.number < from.part) continue;
      const isInside = part.number === place.part && place.offset > 0;
      if (!isInside) {
        const goesOn = part.follows && place.offset > 0 && part.number === place.part + 1;
        // The state with which a part begins is what the terminal shows already.
        const eventsFrom = goesOn ? await behindState(part) : part.eventsFrom;
        // It is still being written.
        if (eventsFrom === undefined) return;
        const begun = this.#begun(part, place, goesOn, eventsFrom);
        place = begun.after;
        yield [begun];
      }
      for await (const lines of wholeLines(part.file, place.offset)) {
        const events: PlacedEvent[] = [];
        for (const line of lines) {
          const event = placed(line, place, this.#starts.get(part.number) ?? 0);
          place = event?.after ?? { ...place, offset: line.end };
          if (event !== undefined) events.push(event);
        }
        yield events;
      }
    }
  }

  #begun(part: RecordingPart, place: Place, goesOn: boolean, eventsFrom: number): PlacedEvent {
    const { number, head } = part;
    const ownMs = head === undefined ? 0 : head.beganMs - (this.#parts.beganMs ?? head.beganMs);
    const ms = this.#starts.get(number) ?? Math.max(place.ms, ownMs);
    this.#starts.set(number, ms);
    return {
      event: { kind: goesOn ? 'resize' : 'begin', ms, size: head?.size ?? FALLBACK_SIZE },
      before: { part: number, offset: 0, ms: place.ms },
      after: { part: number, offset: eventsFrom, ms },
    };
  }
}

function placed(line: Line, before: Place, startMs: number): PlacedEvent | undefined {
  const event = parseEvent(line.text);
  if (event === undefined) return undefined;
  const ms = Math.max(before.ms, startMs + event.ms);
  return { event: { ...event, ms }, before, after: { ...before, offset: line.end, ms } };
}

/** The offset behind the state with which a part begins; no other event is at its very beginning. Undefined before its first event. */
async function behindState(part: RecordingPart): Promise<number | undefined> {
  for await (const [first] of wholeLines(part.file, part.eventsFrom)) {
    if (first === undefined) continue;
    const event = parseEvent(first.text);
    return event?.kind === 'output' && event.ms === 0 ? first.end : part.eventsFrom;
  }
  return undefined;
}
