import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Place, StartedServer } from './place.js';

const settingsSchema = z.object({
  mcpServers: z.object({
    'claude-code-bridge': z.object({
      command: z.string(),
      args: z.array(z.string()).default([]),
      env: z.record(z.string(), z.string()).default({}),
    }),
  }),
});

/** The server as the settings of Claude Code name it. Throws when they do not. */
export async function claudeCodeEntry(place: Place): Promise<StartedServer> {
  const text = await readFile(join(place.homeDir, '.claude.json'), 'utf8');
  const { command, args, env } = settingsSchema.parse(JSON.parse(text)).mcpServers['claude-code-bridge'];
  return place.server(command, args, env);
}
