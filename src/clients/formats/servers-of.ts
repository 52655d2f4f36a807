import { z } from 'zod';
import type { ServersRead } from './settings-format.js';

const serversSchema = z.record(z.string(), z.unknown());

/** The object of servers in what a settings file holds; `where` names the place for the error. */
export function serversOf(value: unknown, serversKey: string, where: string): ServersRead {
  if (value === undefined || value === null) return { kind: 'servers', servers: {} };
  // As plain objects: parsers make objects without a prototype, dates and the like.
  const servers = serversSchema.safeParse(JSON.parse(JSON.stringify(value)));
  if (servers.success) return { kind: 'servers', servers: servers.data };
  return { kind: 'broken', why: `${where}${serversKey}: expected an object of servers` };
}
