// Pure: what each tool of Claude Code does, and which fields of its input name a command, a file or an address.

/**
 * - `reads`, `edits`: files that its input names.
 * - `searches`: reads files that its input does not name.
 * - `runs`: a program, or an agent.
 * - `fetches`: reaches the network.
 * - `steers`: acts on other sessions, on later turns or on the session's own folder.
 * - `asks`: its person.
 * - `notes`: changes what the session itself knows, and nothing else.
 */
export type ToolEffect = 'reads' | 'searches' | 'edits' | 'runs' | 'fetches' | 'steers' | 'asks' | 'notes';

export interface ToolRow {
  readonly effect: ToolEffect;
  /** Fields with a line for a shell. */
  readonly commands?: readonly string[];
  /** Fields with the path of a file or folder. */
  readonly paths?: readonly string[];
  /** The field with a web address. */
  readonly address?: string;
  /** Fields that say best what a call does, beside those. */
  readonly subjects?: readonly string[];
}

type Input = Readonly<Record<string, unknown>>;

/** The tools that 2.1.330 and 2.1.332 send to the model, with those for macOS, Windows and MCP resources; a test holds the list to what they send. */
const rows: Readonly<Record<string, ToolRow>> = {
  Agent: { effect: 'runs', subjects: ['description'] },
  AskUserQuestion: { effect: 'asks' },
  Bash: { effect: 'runs', commands: ['command'] },
  CronCreate: { effect: 'steers', subjects: ['prompt'] },
  CronDelete: { effect: 'steers', subjects: ['id'] },
  CronList: { effect: 'notes' },
  DeferredToolPlaceholder: { effect: 'notes' },
  Edit: { effect: 'edits', paths: ['file_path'] },
  EnterPlanMode: { effect: 'notes' },
  EnterWorktree: { effect: 'steers', paths: ['path'], subjects: ['name'] },
  ExitPlanMode: { effect: 'asks', subjects: ['plan'] },
  ExitWorktree: { effect: 'steers', subjects: ['action'] },
  Glob: { effect: 'searches', paths: ['path'], subjects: ['pattern'] },
  Grep: { effect: 'searches', paths: ['path'], subjects: ['pattern'] },
  ListAgents: { effect: 'notes' },
  ListMcpResourcesTool: { effect: 'runs', subjects: ['server'] },
  Monitor: { effect: 'runs', commands: ['command'], address: 'ws' },
  NotebookEdit: { effect: 'edits', paths: ['notebook_path'] },
  PowerShell: { effect: 'runs', commands: ['command'] },
  Read: { effect: 'reads', paths: ['file_path'] },
  ReadMcpResourceDirTool: { effect: 'runs', subjects: ['uri', 'server'] },
  ReadMcpResourceTool: { effect: 'runs', subjects: ['uri', 'server'] },
  ReportFindings: { effect: 'notes' },
  ScheduleWakeup: { effect: 'steers', subjects: ['reason', 'prompt'] },
  SendMessage: { effect: 'steers', subjects: ['to', 'message'] },
  Skill: { effect: 'runs', subjects: ['skill'] },
  TaskStop: { effect: 'steers', subjects: ['task_id', 'shell_id'] },
  ToolSearch: { effect: 'notes', subjects: ['query'] },
  WebFetch: { effect: 'fetches', address: 'url' },
  WebSearch: { effect: 'fetches', subjects: ['query'] },
  Workflow: { effect: 'runs', paths: ['scriptPath'], subjects: ['name', 'script'] },
  Write: { effect: 'edits', paths: ['file_path'] },
};

/** Tools of MCP servers: what they do, only their server knows. */
const MCP: ToolRow = { effect: 'runs' };

/** Names that have a row, without those of MCP servers. */
export const knownTools: readonly string[] = Object.keys(rows);

/** Undefined for a tool that the bridge does not know. */
export function toolRow(tool: string): ToolRow | undefined {
  if (tool.startsWith('mcp__')) return MCP;
  return Object.hasOwn(rows, tool) ? rows[tool] : undefined;
}

/** The line that the call gives to a shell; undefined where it gives none. */
export function commandOf(tool: string, input: Input): string | undefined {
  return textsIn(input, toolRow(tool)?.commands)[0];
}

/** The paths that the call names, as they are written. */
export function pathsOf(tool: string, input: Input): readonly string[] {
  return textsIn(input, toolRow(tool)?.paths);
}

/** The address that the call reaches; undefined for one that is none of the web. A name without a scheme is one of `https`. */
export function addressOf(tool: string, input: Input): URL | undefined {
  const field = toolRow(tool)?.address;
  const [text] = textsIn(input, field === undefined ? [] : [field]);
  if (text === undefined) return undefined;
  const whole = URL.canParse(text) ? text : `https://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** What says best what a call does: its command, path or address, else a text that describes it. */
export function subjectOf(tool: string, input: Input): string | undefined {
  const { commands = [], paths = [], address, subjects = [] } = toolRow(tool) ?? { effect: 'runs' };
  const isSearch = toolRow(tool)?.effect === 'searches';
  const first = isSearch ? subjects : [...commands, ...(address === undefined ? [] : [address]), ...paths];
  return textsIn(input, [...first, ...subjects])[0];
}

function textsIn(input: Input, fields: readonly string[] = []): readonly string[] {
  return fields.flatMap((field) => {
    const value = input[field];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}
