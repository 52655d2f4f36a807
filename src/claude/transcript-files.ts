import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** More subagents than one session starts. */
const MAX_SUBAGENTS = 1_000;
const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where the CLI stores its files: `CLAUDE_CONFIG_DIR`, else `.claude` in the home directory. */
export function claudeConfigDir(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const configured = env['CLAUDE_CONFIG_DIR'];
  if (configured !== undefined && configured !== '') return configured;
  return env['HOME'] === undefined ? undefined : join(env['HOME'], '.claude');
}

/**
 * The transcript of a session and those of its subagents; empty if there is none (transcripts can be disabled). Searches the folders of
 * all projects, since the way the CLI names them is not documented.
 */
export async function findTranscripts(configDir: string, sessionId: string): Promise<string[]> {
  if (!SESSION_ID.test(sessionId)) return [];
  const projects = join(configDir, 'projects');
  for (const project of await namesIn(projects)) {
    const transcript = join(projects, project, `${sessionId}.jsonl`);
    if (!(await isFile(transcript))) continue;
    const folder = join(dirname(transcript), sessionId, 'subagents');
    // Those of workflows are in folders of their own.
    const subagents = (await namesIn(folder, true)).filter((name) => name.endsWith('.jsonl'));
    return [transcript, ...subagents.slice(0, MAX_SUBAGENTS).map((name) => join(folder, name))];
  }
  return [];
}

async function namesIn(folder: string, recursive = false): Promise<string[]> {
  try {
    return await readdir(folder, { recursive });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
