import { v0_3, getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { cp, mkdtemp, mkdir, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artefactNames } from '../../../scripts/release/artefacts.js';
import { mcpbProgram } from '../../../scripts/release/make-bundle.js';
import { checkContents } from '../../../scripts/release/checks/contents.js';
import { makeRelease } from '../../../scripts/release/make-release.js';
import { readProject } from '../../../scripts/release/project.js';
import { releaseFaults } from '../../../scripts/release/release-faults.js';
import { run } from '../../../scripts/release/run.js';
import { sha256 } from '../../../scripts/release/sha256.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const LIMIT_MS = 120_000;
const project = readProject(resolve(import.meta.dirname, '..', '..', '..'));
const names = artefactNames(project);
let folder: string;
let release: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'release-')));
  release = join(folder, 'release');
  await makeRelease(project, release);
}, LIMIT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the release check', () => {
  it('finds no fault in a release that was just made', { timeout: LIMIT_MS }, async () => {
    expect(await releaseFaults(project, release)).toEqual([]);
  });

  it('names each fault', { timeout: LIMIT_MS }, async () => {
    const broken = join(folder, 'broken');
    await cp(release, broken, { recursive: true });
    await rm(join(broken, names.extension));
    await writeFile(join(broken, 'notes.txt'), 'left here');
    const edit = async (file: string, from: string | RegExp, to: string) => {
      const text = await readFile(join(broken, file), 'utf8');
      expect(text).toMatch(from);
      await writeFile(join(broken, file), text.replace(from, to));
    };
    await edit(names.registry, /"fileSha256": "\w+"/, '"fileSha256": "abc"');
    const faults = (await releaseFaults(project, broken)).join('\n');
    expect(faults).toContain(`checksums: ${names.extension} is missing.`);
    expect(faults).toContain('checksums: notes.txt is no file of a release.');
    expect(faults).toContain(`checksums: ${names.registry} differs from its checksum.`);
    expect(faults).toContain('registry: data/packages/1/fileSha256 must match pattern');
    expect(faults).toMatch(/^extension: /m);
    expect(faults).not.toMatch(/^(npm|bundle|versions|licences): /m);
  });

  it(
    'names each file that was changed in an archive, also when the checksums fit the change',
    { timeout: LIMIT_MS },
    async () => {
      const [broken, tree] = [join(folder, 'changed'), join(folder, 'tree')];
      await cp(release, broken, { recursive: true });
      await mkdir(tree);
      await run('tar', ['-xzf', join(release, names.npm), '-C', tree], tree);
      const inside = join(tree, 'package');
      await writeFile(join(inside, 'dist', 'added.js'), '');
      await writeFile(join(inside, 'dist', 'THIRD_PARTY_LICENSES.txt'), '');
      await rm(join(inside, 'LICENSE'));
      await run('tar', ['-czf', join(broken, names.npm), '-C', tree, 'package'], tree);
      const bytes = await readFile(join(broken, names.bundle));
      const middle = bytes.length >> 1;
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      await writeFile(join(broken, names.bundle), bytes);
      const work = join(folder, 'work');
      await mkdir(work);
      const faults = await checkContents({ project, folder: broken, work });
      expect(faults).toEqual([
        `${names.npm}: package/LICENSE is missing.`,
        `${names.npm}: package/dist/THIRD_PARTY_LICENSES.txt is not what this checkout makes.`,
        `${names.npm}: package/dist/added.js is no file of this checkout.`,
        expect.stringContaining(names.bundle),
      ]);
      // Made at another time, from the same sources.
      const sums = async (of: string) => readFile(join(of, names.sums), 'utf8');
      expect(await sums(join(work, 'again'))).toBe(await sums(release));
    },
  );

  it('a release that cannot be made leaves the one before as it was', async () => {
    const [place, made] = [join(folder, 'place'), join(folder, 'place', 'release')];
    await cp(release, made, { recursive: true });
    await expect(makeRelease({ ...project, version: '9.9.9' }, made)).rejects.toThrow('npm pack made');
    expect(await readdir(place)).toEqual(['release']);
    for (const name of await readdir(release))
      expect(sha256(join(made, name)), name).toBe(sha256(join(release, name)));
  });

  it('a folder that holds something else is not emptied', async () => {
    const other = join(folder, 'other');
    await mkdir(other);
    await writeFile(join(other, 'thesis.txt'), 'years of work');
    await expect(makeRelease(project, other)).rejects.toThrow('holds other files than a release');
    expect(await readFile(join(other, 'thesis.txt'), 'utf8')).toBe('years of work');
  });
});

describeNewestClaude('the bundle for Claude Desktop', ({ binary }) => {
  /** The command that Claude Desktop makes of the unpacked bundle and the folders that the person chose. */
  async function desktopCommand(roots: readonly string[]): Promise<[string, ...string[]]> {
    const unpacked = join(folder, 'unpacked');
    await run(mcpbProgram(project.root), ['unpack', join(release, names.bundle), unpacked], folder);
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
    const client = await bridge.another('foreign', { command: [node, '--require', app, ...args] });
    const id = await client.start({ prompt: 'Make it.', path: bridge.project, permission_mode: 'cautious' });
    await client.answerNext(id, { verdict: 'allow' });
    expect(await client.end(id)).toMatchObject({ status: 'completed', last_output: 'Delivered.' });
    expect(await readFile(join(bridge.project, 'made.txt'), 'utf8')).toBe('bundled\n');
  });
});
