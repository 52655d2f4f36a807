import { z } from 'zod';
import { plain } from './plain.js';
import type { ServersRead } from './settings-format.js';

const objectSchema = z.record(z.string(), z.unknown());

/** The object of servers in what a settings file holds; `where` names the place for the error. */
export function serversOf(whole: unknown, serversKey: string, where = ''): ServersRead {
  const { [serversKey]: found, ...rest } = objectSchema.parse(plain(whole));
  if (found === undefined || found === null) return { kind: 'servers', servers: {}, rest };
  const servers = objectSchema.safeParse(found);
  if (servers.success) return { kind: 'servers', servers: servers.data, rest };
  return { kind: 'broken', why: `${where}${serversKey}: expected an object of servers` };
}
