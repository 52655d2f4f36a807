import { z } from 'zod';
import {
  BOARD_PROTOCOL,
  clientActionSchema,
  clientMessageSchema,
  MAX_MESSAGE_BYTES,
} from '../../src/board/protocol.js';

/** Declarations of the sources that the page shows, by file. */
const shown = {
  'protocol.ts': [
    'Capabilities',
    'TerminalState',
    'TerminalAction',
    'ActionError',
    'ActionAnswer',
    'FileText',
    'ServerMessage',
  ],
  'replica.ts': ['ChannelMessage'],
  'state.ts': [
    'BoardState',
    'BoardAction',
    'ScreenState',
    'ScreenAction',
    'TaskState',
    'TaskAction',
    'TaskCard',
    'DecisionView',
    'QuestionView',
    'DecisionEnd',
    'TimelineEvent',
  ],
  'replay/replay-state.ts': [
    'ReplayState',
    'ReplayAction',
    'ReplayMark',
    'ReplayCommit',
    'ReplayPlace',
    'ReplayScreenAt',
    'ReplayPiece',
    'ReplayEvent',
    'ReplayFiles',
  ],
} as const;

/** The page `docs/board-protocol.md`; `read` gives the text of a file of `src/board`. Throws for a declaration that is not there. */
export function boardProtocolPage(read: (file: string) => string): string {
  const kilobytes = MAX_MESSAGE_BYTES / 1024;
  return `# Messages between a page and the board

Generated from \`src/board\` by \`npm run docs\`. Version ${BOARD_PROTOCOL}.

A page opens a WebSocket at \`/socket\` and says \`hello\` with its token within ten seconds. Each message is one JSON object, those of a page at most ${kilobytes} KB. It
then follows channels: \`board:/\` (all tasks), \`task:/<task_id>\`, \`diff:/<task_id>\`, \`screen:/<task_id>\`, \`term:/<task_id>\`, \`replay:/<task_id>\`. Of each it gets a \`snapshot\` and then numbered actions, or, with \`since\`, the actions
after that number. Where those are no longer known, it gets a \`gap\` and a snapshot.

The bytes of a terminal come as binary messages: one byte for the kind (1 state, for a terminal that was reset; 2 output; 3 picture, drawn over what is there), four for
the stream, eight for the number of the first byte, then the bytes. The page acknowledges with \`term.ack\` how many it has shown.

A recording comes in the answers of \`replay.seek\` (the screen at a moment) and \`replay.read\` (what follows a place), while the page follows its channel.

## From the page

${optionsOf(clientMessageSchema)}

### Actions of \`dispatch\`

${optionsOf(clientActionSchema)}

## From the board

${Object.entries(shown)
  .flatMap(([file, names]) => names.map((name) => fenced('ts', declaration(read(file), name))))
  .join('\n\n')}
`;
}

function optionsOf(schema: { readonly options: readonly z.ZodObject[] }): string {
  return schema.options
    .map((option) => fenced('json', JSON.stringify(shortened(option), null, 1)))
    .join('\n\n');
}

/** The form of one message; a nested choice is described on its own. */
function shortened(option: z.ZodObject): unknown {
  const { $schema: _schema, ...json } = z.toJSONSchema(option, {
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== clientActionSchema) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.description = 'one of the actions below';
    },
  });
  return json;
}

/** An exported type or interface with its comments, as it stands in the source. */
function declaration(source: string, name: string): string {
  const found = new RegExp(
    String.raw`(?:^/\*\*(?:(?!\*/)[\s\S])*\*/\n)?^export (?:interface ${name}\b[\s\S]*?^\}|type ${name}\b[\s\S]*?;$(?!\n  [|}]))`,
    'm',
  ).exec(source);
  if (found === null) throw new Error(`${name} is not declared.`);
  return found[0];
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
