import { z } from 'zod';
import {
  DEFAULT_OUTPUT_CHARS,
  EDITOR_PROTOCOL,
  editorErrorCodes,
  editorMessageSchema,
  editorRequestSchema,
  MAX_EDITOR_MESSAGE_BYTES,
  MAX_KEPT_CHARS,
} from '../../src/editor/protocol.js';
import { editorWindowSchema } from '../../src/editor/discovery.js';

const MEGABYTE = 1024 * 1024;

/** The page `docs/editor-protocol.md`. */
export function editorProtocolPage(): string {
  return `# Messages between a program and the editor

Generated from \`src/editor\` by \`npm run docs\`. Version ${EDITOR_PROTOCOL}.

The extension [Claude Terminal Bridge](vscode.md) listens for WebSockets on 127.0.0.1. A program shows its token in the header \`Authorization: Bearer <token>\`, or with
\`hello\` as its first message within ten seconds. Each message is one JSON object of at most ${MAX_EDITOR_MESSAGE_BYTES / MEGABYTE} MB. A request has an \`id\`, which its answers carry. What cannot be done is answered with \`error\`.

The output of a terminal is text. A **cursor** counts its characters. The newest ${MAX_KEPT_CHARS / MEGABYTE} million are cached; a request for older ones returns how many were \`dropped\`. Marks of shell
integration are taken out, and lines end as the program wrote them. \`success\` holds the newest ${DEFAULT_OUTPUT_CHARS / 1024} thousand characters of a command unless \`maxChars\` says otherwise.

A terminal belongs to the window, not to the connection: it stays when the program disconnects, and other programs of the same person may use it.

## Where a window is found

\`<state directory>/editors/<id>.json\`, readable by its user alone. It counts only while its \`owner\` runs and it is not \`leaving\`. The error \`NO_TOKEN\` names this file.

${formOf(editorWindowSchema)}

## From the program

${editorRequestSchema.options.map(formOf).join('\n\n')}

## From the extension

${editorMessageSchema.options.map(formOf).join('\n\n')}

## Codes of \`error\`

${editorErrorCodes.map((code) => `\`${code}\``).join(', ')}
`;
}

function formOf(schema: z.ZodObject): string {
  const { $schema: _schema, ...json } = z.toJSONSchema(schema);
  return `\`\`\`json\n${JSON.stringify(json, null, 1)}\n\`\`\``;
}
