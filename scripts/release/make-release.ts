import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { bundleManifest, serverJson } from './manifests.js';
import { artefactNames, lockedPackage, nativePackages, type Project } from './project.js';

const LIMIT_MS = 300_000;
const ICON = 'plugins/code-bridge/.claude-plugin/icon.png';
const packedSchema = z.tuple([z.object({ filename: z.string(), integrity: z.string() })]);

/**
 * Makes all artefacts in `out`, in place of a release that it holds. Needs `npm run build` before. Throws when one cannot be made, or when
 * `out` holds other files; it is as it was then.
 */
export async function makeRelease(project: Project, out: string): Promise<void> {
  const found = existsSync(out) ? await readdir(out) : [];
  if (found.length > 0 && !found.includes(artefactNames(project).sums))
    throw new Error(`${out} holds other files than a release.`);
  await mkdir(dirname(out), { recursive: true });
  const work = await mkdtemp(join(dirname(out), '.release-'));
  try {
    const [made, app] = [join(work, 'release'), join(work, 'app')];
    await mkdir(made);
    await mkdir(app);
    await fill(project, made, app);
    await rm(out, { recursive: true, force: true });
    await rename(made, out);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function fill(project: Project, out: string, app: string): Promise<void> {
  const { root } = project;
  const names = artefactNames(project);
  const at = (file: string): string => join(out, file);
  const { file } = await packNpm(root, out);
  if (basename(file) !== names.npm) throw new Error(`npm pack made ${basename(file)}, not ${names.npm}.`);
  await fillApp(project, file, app);
  await run(join(root, 'node_modules', '.bin', 'mcpb'), ['pack', app, at(names.bundle)], root);
  await run(process.execPath, ['scripts/package-vscode.mjs', at(names.extension)], root);
  await writeJson(at(names.registry), serverJson(project, await sha256(at(names.bundle))));
  const lines = (await readdir(out)).toSorted().map(async (name) => `${await sha256(at(name))}  ${name}\n`);
  await writeFile(at(names.sums), (await Promise.all(lines)).join(''));
}

/**
 * Fills `app` with what runs on every supported system without an installation: the npm package, and the native packages below its
 * node_modules. Throws when a package of the registry is not the one that package-lock.json names.
 */
async function fillApp(project: Project, tarball: string, app: string): Promise<void> {
  await unpack(tarball, app);
  for (const name of nativePackages) {
    const { version, integrity } = lockedPackage(project.root, name);
    const packed = await packNpm(`${name}@${version}`, dirname(app));
    if (packed.integrity !== integrity)
      throw new Error(`${name}@${version} of the registry is not the one in package-lock.json.`);
    await unpack(packed.file, join(app, 'node_modules', name));
  }
  await copyFile(join(project.root, ICON), join(app, 'icon.png'));
  await writeJson(join(app, 'manifest.json'), bundleManifest(project));
}

/** Packs a folder, or a published package such as `name@1.0.0`, into `out`. No script of a package runs. */
async function packNpm(what: string, out: string): Promise<{ file: string; integrity: string }> {
  const flags = ['--json', '--silent', '--ignore-scripts', '--prefer-offline'];
  const printed = await run('npm', ['pack', what, ...flags], out);
  const [{ filename, integrity }] = packedSchema.parse(JSON.parse(printed));
  return { file: join(out, filename), integrity };
}

async function unpack(tarball: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder], folder);
}

/** The output of a program. Rejects when it fails or takes longer than five minutes. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  return (await promisify(execFile)(program, [...args], { cwd, timeout: LIMIT_MS })).stdout;
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Of a file, in hexadecimal. */
export async function sha256(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
