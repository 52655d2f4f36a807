import { v0_3, getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeRelease, sha256 } from '../../../scripts/release/make-release.js';
import { artefactNames, nativePackages, readProject } from '../../../scripts/release/project.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const LIMIT_MS = 120_000;
const project = readProject(resolve(import.meta.dirname, '..', '..', '..'));
const names = artefactNames(project);
const schemaFile = join(project.root, 'tests/fixtures/schemas/mcp-server-2025-12-11.json');
let folder: string;
let release: string;

const unpack = async (file: string, to: string): Promise<string> => {
  const mcpb = join(project.root, 'node_modules', '.bin', 'mcpb');
  await promisify(execFile)(mcpb, ['unpack', join(release, file), to], { cwd: folder });
  return to;
};

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'release-')));
  release = join(folder, 'release');
  await makeRelease(project, release);
}, LIMIT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a release', () => {
  it('has all its files, each with its checksum', async () => {
    const { sums, ...others } = names;
    expect(await readdir(release)).toEqual(Object.values(names).toSorted());
    const lines = Object.values(others).map(async (name) => `${await sha256(join(release, name))}  ${name}`);
    const listed = (await readFile(join(release, sums), 'utf8')).trimEnd().split('\n');
    expect(listed.toSorted()).toEqual((await Promise.all(lines)).toSorted());
  });

  it('has an entry for the MCP registry that fits its schema and names the bundle', async () => {
    const entry: unknown = JSON.parse(await readFile(join(release, names.registry), 'utf8'));
    // The schema has examples, which strict mode does not know.
    const ajv = new Ajv({ strict: false });
    addFormats.default(ajv);
    const schema = z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(schemaFile, 'utf8')));
    expect(ajv.validate(schema, entry), ajv.errorsText()).toBe(true);
    const fileSha256 = await sha256(join(release, names.bundle));
    expect(entry).toMatchObject({ name: project.mcpName, packages: [{}, { fileSha256 }] });
  });

  it('has a bundle with the programs of every system, and an extension of its version', async () => {
    const bundle = await unpack(names.bundle, join(folder, 'bundle'));
    const missing = nativePackages.filter((name) => !existsSync(join(bundle, 'node_modules', name)));
    expect(missing).toEqual([]);
    const extension = join(await unpack(names.extension, join(folder, 'vsix')), 'extension');
    const manifest: unknown = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));
    const { version, main } = z.object({ version: z.string(), main: z.string() }).parse(manifest);
    expect(version).toBe(project.version);
    for (const file of [main, 'dist/THIRD_PARTY_LICENSES.txt'])
      expect(existsSync(join(extension, file)), file).toBe(true);
  });
});

describeNewestClaude('the bundle for Claude Desktop', ({ binary }) => {
  /** The command that Claude Desktop makes of the unpacked bundle and the folders that the person chose. */
  async function desktopCommand(roots: readonly string[]): Promise<[string, ...string[]]> {
    const unpacked = await unpack(names.bundle, join(folder, 'unpacked'));
    const manifest: unknown = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
    const config = await getMcpConfigForManifest({
      manifest: v0_3.McpbManifestSchema.parse(manifest),
      extensionPath: unpacked,
      systemDirs: {},
      userConfig: { allowed_roots: [...roots] },
      pathSeparator: '/',
    });
    expect(config?.command).toBe('node');
    return [process.execPath, ...(config?.args ?? [])];
  }

  it("delegates a task from inside the app's own process, by the person's Node", async () => {
    const bridge = await startBridge({
      claude: binary,
      withoutRoots: true,
      script: [runs('echo bundled > made.txt'), says('Delivered.')],
    });
    // As in the app: its own program is no Node, and the environment names no roots.
    const app = join(folder, 'app.cjs');
    await writeFile(
      app,
      "Object.defineProperty(process.versions, 'electron', { value: '40.0.0' }); process.execPath = '/App/Helper';",
    );
    const [node, ...args] = await desktopCommand([bridge.workplace.projectsDir, '/none']);
    const client = await bridge.another('legacy', { command: [node, '--require', app, ...args] });
    const id = await client.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    await client.answerNext(id, { verdict: 'allow' });
    expect(await client.end(id)).toMatchObject({ status: 'completed', last_output: 'Delivered.' });
    expect(await readFile(join(bridge.project, 'made.txt'), 'utf8')).toBe('bundled\n');
  });
});
