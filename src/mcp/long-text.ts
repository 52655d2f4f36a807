import { jsonTextWriter, type JsonTextWriter } from '../base/json-text-writer.js';

/** A text as the inside of a JSON string, in pieces. */
export interface LongText {
  readonly text: string;
  readonly json: readonly Buffer[];
  /** Of the pieces together. */
  readonly bytes: number;
}

/** Written at a time: what stays in memory afterwards is some hundred KB. */
const PIECE_UNITS = 32_768;
/** Of UTF-8 for one UTF-16 unit; a pair of two has four. */
const BYTES_PER_UNIT = 3;
/** Half of a character, which UTF-8 cannot say. */
const SURROGATE = /\p{Surrogate}/u;

/** Writes long texts as JSON, sixteen bytes at a time: `JSON.stringify` takes several times as long. */
export class LongTexts {
  #writer: JsonTextWriter | undefined;

  /** `isAscii` is looked for where it is not known. */
  escaped(text: string, isAscii: boolean = Buffer.byteLength(text) === text.length): LongText {
    const json = !isAscii && SURROGATE.test(text) ? [inside(text)] : this.#pieces(text, isAscii);
    return { text, json, bytes: json.reduce((sum, piece) => sum + piece.length, 0) };
  }

  #pieces(text: string, isAscii: boolean): Buffer[] {
    // One unit more than a piece, for the second half of a pair; rounded up to whole words.
    this.#writer ??= jsonTextWriter((PIECE_UNITS + 4) * BYTES_PER_UNIT, 0);
    const { source, target } = this.#writer;
    const pieces: Buffer[] = [];
    for (let at = 0; at < text.length;) {
      const last = text.charCodeAt(at + PIECE_UNITS - 1);
      const end = at + PIECE_UNITS + (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
      const part = text.slice(at, end);
      const length = source.write(part, isAscii ? 'latin1' : 'utf8');
      pieces.push(Buffer.from(target.subarray(0, this.#writer.write(0, length, 0))));
      at = end;
    }
    return pieces;
  }
}

function inside(text: string): Buffer {
  return Buffer.from(JSON.stringify(text).slice(1, -1));
}
