#!/usr/bin/env node
// Makes the extension's VSIX from vscode/ as it was built. Usage: package-vscode.mjs [FILE]
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'vscode');
/** Not a dependency: it brings a hundred packages, most of them for publishing. */
const VSCE = '@vscode/vsce@4.1.0';
/** Where scripts/install-vscode.sh puts it. */
const cached = join(root, '.cache', 'vscode', 'vsce', 'node_modules', '.bin', 'vsce');

const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const out = resolve(process.argv[2] ?? join(folder, `${name}-${version}.vsix`));
const [program, ...first] = existsSync(cached) ? [cached] : ['npx', '--yes', VSCE];
// In a folder of its own: two may be made at once, and the licence lies above vscode/.
const copy = mkdtempSync(join(tmpdir(), 'extension-'));
try {
  for (const entry of ['package.json', 'README.md', 'icon.png', 'tasks.svg', '.vscodeignore', 'dist'])
    cpSync(join(folder, entry), join(copy, entry), { recursive: true });
  copyFileSync(join(root, 'LICENSE'), join(copy, 'LICENSE'));
  const args = [...first, 'package', '--no-dependencies', '--out', out];
  execFileSync(program, args, { cwd: copy, stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  rmSync(copy, { recursive: true });
}
process.stdout.write(`${out}\n`);
