import { shownLine } from '../base/text/unseen-characters.js';
import { oneLine, quotedLines } from '../base/text/text.js';
import { isFinal, openDecisions, type TaskRecord } from '../tasks/task.js';

const SECONDS = { day: 86_400, hour: 3_600, minute: 60 } as const;
const MAX_PROJECT_CHARS = 40;
const MAX_NOW_CHARS = 60;

/** One row a task: id, status, age, driver, decisions that wait, project, what it does. */
export function taskTable(records: readonly TaskRecord[], nowMs: number): string {
  if (records.length === 0) return 'No tasks.\n';
  const rows = records.map((record) => [
    record.task_id,
    record.status,
    ageOf(record.created_at, nowMs),
    record.driver,
    String(openDecisions(record).length),
    tail(record.project_path, MAX_PROJECT_CHARS),
    oneLine(record.activity === '' ? record.reason : record.activity, MAX_NOW_CHARS),
  ]);
  const table = [['TASK', 'STATUS', 'AGE', 'DRIVER', 'ASKS', 'PROJECT', 'NOW'], ...rows];
  const widths = table.reduce<number[]>(
    (found, row) => row.map((cell, column) => Math.max(found[column] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${table.map(line).join('\n')}\n`;
}

/** Everything about one task, and the commands for it. */
export function taskDetails(record: TaskRecord, nowMs: number): string {
  const fields: [string, string][] = [
    ['task', record.task_id],
    ['status', `${record.status}: ${record.reason}`],
    ['project', record.project_path],
    ['prompt', record.prompt_summary],
    [
      'started',
      `${record.created_at} (${ageOf(record.created_at, nowMs)} ago), ran ${record.elapsed_seconds} s`,
    ],
    [
      'driver',
      `${record.driver}, ${record.permission_mode}${record.cli_version === null ? '' : `, Claude Code ${record.cli_version}`}`,
    ],
    ...(record.parent === undefined
      ? []
      : [['started by', record.parent.task_id] satisfies [string, string]]),
    ['log', record.log_file],
  ];
  if (record.files_changed.length > 0) fields.push(['changed', record.files_changed.join(', ')]);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value, 2_000)}`);
  for (const decision of openDecisions(record))
    lines.push(
      '',
      `? ${decision.decision_id}: ${shownLine(decision.summary, 500)} (until ${decision.expires_at})`,
    );
  // What an agent printed must not drive the terminal that it is shown in.
  if (record.last_output !== '') lines.push('', 'last output:', quotedLines(record.last_output));
  if (!isFinal(record.status))
    lines.push(
      '',
      `attach: claude-code-bridge attach ${record.task_id}`,
      `follow: claude-code-bridge tasks follow ${record.task_id}`,
      `end:    claude-code-bridge tasks kill ${record.task_id}`,
    );
  return `${lines.join('\n')}\n`;
}

function ageOf(at: string, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1000));
  if (seconds >= SECONDS.day) return `${Math.floor(seconds / SECONDS.day)}d`;
  if (seconds >= SECONDS.hour) return `${Math.floor(seconds / SECONDS.hour)}h`;
  if (seconds >= SECONDS.minute) return `${Math.floor(seconds / SECONDS.minute)}m`;
  return `${seconds}s`;
}

function tail(path: string, maxChars: number): string {
  return path.length <= maxChars ? path : `…${path.slice(1 - maxChars)}`;
}
