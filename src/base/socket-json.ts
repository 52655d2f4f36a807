// Pure.
/** The value in a message of a WebSocket, as `ws` gives it; undefined when it is no JSON. */
export function socketJson(data: Buffer | ArrayBuffer | readonly Buffer[]): unknown {
  try {
    return JSON.parse(textOf(data));
  } catch {
    // The caller says that it is no message.
    return undefined;
  }
}

function textOf(data: Buffer | ArrayBuffer | readonly Buffer[]): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return (data instanceof ArrayBuffer ? Buffer.from(data) : Buffer.concat(data)).toString('utf8');
}
