import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fillAppFolder } from './app-folder.js';
import { artefactNames } from './artefacts.js';
import { makeBundle } from './make-bundle.js';
import { packNpm } from './pack-npm.js';
import type { Project } from './project.js';
import { run } from './run.js';
import { serverJson } from './server-json.js';
import { sha256 } from './sha256.js';

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
    const made = join(work, 'release');
    await mkdir(made);
    await fill(project, made);
    await rm(out, { recursive: true, force: true });
    await rename(made, out);
  } finally {
    await rm(work, { recursive: true });
  }
}

async function fill(project: Project, out: string): Promise<void> {
  const names = artefactNames(project);
  const at = (file: string): string => join(out, file);
  const { file } = await packNpm(project.root, out);
  if (basename(file) !== names.npm) throw new Error(`npm pack made ${basename(file)}, not ${names.npm}.`);
  const app = await mkdtemp(join(tmpdir(), 'app-'));
  try {
    await fillAppFolder(project.root, file, app);
    await Promise.all([
      makeBundle(project, app, at(names.bundle)),
      run(process.execPath, ['scripts/package-vscode.mjs', at(names.extension)], project.root),
    ]);
  } finally {
    await rm(app, { recursive: true });
  }
  const entry = serverJson(project, sha256(at(names.bundle)));
  await writeFile(at(names.registry), `${JSON.stringify(entry, null, 2)}\n`);
  const files = (await readdir(out)).toSorted();
  await writeFile(at(names.sums), files.map((name) => `${sha256(at(name))}  ${name}\n`).join(''));
}
