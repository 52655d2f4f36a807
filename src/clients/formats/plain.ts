/** The value as JSON holds it: parsers make dates, large integers and objects without a prototype. */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'bigint' ? ofBigInt(part) : part,
  );
  // JSON has no undefined.
  return text === undefined ? undefined : JSON.parse(text);
}

function ofBigInt(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
