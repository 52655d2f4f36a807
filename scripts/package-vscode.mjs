#!/usr/bin/env node
// Makes the extension's VSIX from vscode/ as it was built. Usage: package-vscode.mjs [FILE]
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'vscode');
/** Not a dependency: it brings a hundred packages, most of them for publishing. */
const VSCE = '@vscode/vsce@4.1.0';
/** The time of all files, in seconds: that of scripts/release/fixed-time.ts. */
const SOURCE_DATE_EPOCH = '499162500';
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
  for (const entry of readdirSync(copy, { recursive: true })) {
    const path = join(copy, entry);
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  }
  execFileSync(program, [...first, 'package', '--no-dependencies', '--out', out], {
    cwd: copy,
    // The same sources make the same archive; it has the times of a clock in this zone.
    env: { ...process.env, SOURCE_DATE_EPOCH, TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
} finally {
  rmSync(copy, { recursive: true });
}
process.stdout.write(`${out}\n`);
