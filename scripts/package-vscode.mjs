#!/usr/bin/env node
// Makes the extension's VSIX from vscode/ as it was built. Usage: package-vscode.mjs [FILE]
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'vscode');
/** Not a dependency: it brings a hundred packages, most of them for publishing. */
const VSCE = '@vscode/vsce@4.1.0';
/** Where scripts/install-vscode.sh puts it. */
const cached = join(root, '.cache', 'vscode', 'vsce', 'node_modules', '.bin', 'vsce');

const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const out = process.argv[2] ?? join(folder, `${name}-${version}.vsix`);
const [program, ...first] = existsSync(cached) ? [cached] : ['npx', '--yes', VSCE];
const licence = join(folder, 'LICENSE');
copyFileSync(join(root, 'LICENSE'), licence);
try {
  execFileSync(
    program,
    [...first, 'package', '--no-dependencies', '--allow-missing-repository', '--out', out],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
} finally {
  rmSync(licence);
}
process.stdout.write(`${out}\n`);
