import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Project } from '../project.js';

const LIMIT_MS = 30_000;

export interface HandshakeOptions {
  readonly project: Project;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** An empty folder: the server's home. */
  readonly home: string;
  /** A folder in which tasks may start. */
  readonly inside: string;
}

/**
 * Starts a server in an environment made from nothing, as a client does, and asks it for its tools and for a folder inside and one
 * outside its allowed roots. The faults, each a sentence.
 */
export async function handshake({
  project,
  command,
  args,
  env,
  home,
  inside,
}: HandshakeOptions): Promise<string[]> {
  await mkdir(inside, { recursive: true });
  const path = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const state = { XDG_RUNTIME_DIR: home, MCP_STATE_DIR: join(home, 'state') };
  const transport = new StdioClientTransport({
    command: command === 'node' ? process.execPath : command,
    args: [...args],
    cwd: home,
    env: { HOME: home, PATH: path, ...state, ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'release-check', version: project.version });
  const options = { timeout: LIMIT_MS };
  try {
    await client.connect(transport, options);
    const faults: string[] = [];
    const server = client.getServerVersion();
    if (server?.version !== project.version)
      faults.push(`the server has version ${server?.version ?? 'none'}.`);
    const { tools } = await client.listTools(undefined, options);
    if (!tools.some(({ name }) => name === 'start_task')) faults.push('the server offers no start_task.');
    const choose = async (folder: string) =>
      (await client.callTool({ name: 'set_active_project', arguments: { path: folder } }, options)).isError;
    if ((await choose(inside)) === true)
      faults.push(`the server refuses ${inside}, which is inside its allowed roots.`);
    if ((await choose('/')) !== true) faults.push('the server takes /, which is outside its allowed roots.');
    return faults;
  } finally {
    await client.close();
  }
}
