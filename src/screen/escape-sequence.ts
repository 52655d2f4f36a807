// Pure: finds where escape sequences end.

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** A longer incomplete sequence is passed to the terminal as it is. */
const MAX_INCOMPLETE_BYTES = 4096;

/** The length of `bytes` without an incomplete escape sequence at their end. */
export function endOfSequences(bytes: Buffer): number {
  const escape = bytes.lastIndexOf(ESC);
  if (escape === -1 || bytes.length - escape > MAX_INCOMPLETE_BYTES) return bytes.length;
  return sequenceEnd(bytes, escape) === -1 ? escape : bytes.length;
}

/**
 * The index after the escape sequence whose ESC is at `start`, or -1 when it is incomplete. Follows the forms of ECMA-48: CSI, the
 * strings (OSC, DCS, SOS, PM, APC), and ESC with intermediates. A sequence that is aborted by ESC, CAN, SUB or a byte that fits no
 * form ends there.
 */
function sequenceEnd(bytes: Uint8Array, start: number): number {
  const kind = bytes[start + 1];
  if (kind === undefined) return -1;
  if (kind === 0x5b) return csiEnd(bytes, start + 2);
  if (kind === 0x5d || kind === 0x50 || kind === 0x58 || kind === 0x5e || kind === 0x5f) {
    return stringEnd(bytes, start + 2);
  }
  return plainEnd(bytes, start + 1);
}

function csiEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return at + 1;
    if (byte === ESC) return at;
    if (byte === CAN || byte === SUB) return at + 1;
  }
  return -1;
}

function stringEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BEL || byte === CAN || byte === SUB) return at + 1;
    if (byte !== ESC) continue;
    if (at + 1 === bytes.length) return -1;
    return bytes[at + 1] === 0x5c ? at + 2 : at;
  }
  return -1;
}

function plainEnd(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === ESC) return at;
    if (byte < 0x20 || byte > 0x2f) return at + 1;
  }
  return -1;
}
