import { copyFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleManifest } from './bundle-manifest.js';
import { packZip } from './pack-zip.js';
import type { Project } from './project.js';
import { run } from './run.js';

const ICON = 'plugins/code-bridge/.claude-plugin/icon.png';

/** Packs the bundle for Claude Desktop from a filled app folder. Throws what mcpb says of a manifest that it refuses. */
export async function makeBundle(project: Project, app: string, file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bundle-'));
  try {
    await cp(app, folder, { recursive: true });
    await copyFile(join(project.root, ICON), join(folder, 'icon.png'));
    await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(bundleManifest(project), null, 2)}\n`);
    await run(mcpbProgram(project.root), ['validate', join(folder, 'manifest.json')], project.root);
    // `mcpb pack` writes the time of its clock and the order of the file system.
    await packZip(folder, file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The official program for bundles. */
export function mcpbProgram(root: string): string {
  return join(root, 'node_modules', '.bin', 'mcpb');
}
