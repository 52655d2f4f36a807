import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EDITOR_VERSIONS, isThere } from './need-table.js';

const root = join(import.meta.dirname, '..', '..');
const CACHE = join(root, '.cache', 'vscode');
/** In 1.139.1 a window that was closed lives on for that many seconds. */
const OPTIONS: Readonly<Record<(typeof EDITOR_VERSIONS)[number], readonly string[]>> = {
  '1.139.1': ['--reconnection-grace-time', '1'],
  '1.100.3': [],
};

export interface InstalledVscode {
  readonly version: string;
  /** Of its code-server. */
  readonly folder: string;
  /** Of this version alone. */
  readonly options: readonly string[];
  /** The others are tested in a short form. */
  readonly isNewest: boolean;
}

/** The editors that scripts/install-vscode.sh put there; none unless all are complete and there is a browser. */
export function installedVscodes(): readonly InstalledVscode[] {
  if (!isThere.editors()) return [];
  return EDITOR_VERSIONS.map((version, index) => ({
    version,
    options: OPTIONS[version],
    folder: join(CACHE, version),
    isNewest: index === 0,
  }));
}

/** The extension for these editors, packed as it is installed. */
export function packExtension(vscodes: readonly InstalledVscode[]): {
  readonly vscodes: readonly InstalledVscode[];
  readonly vsix: string;
  dispose(): void;
} {
  if (vscodes.length === 0) return { vscodes, vsix: '', dispose: () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'vsix-'));
  const vsix = join(folder, 'extension.vsix');
  execFileSync(process.execPath, [join(root, 'scripts', 'package-vscode.mjs'), vsix], { stdio: 'pipe' });
  return { vscodes, vsix, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}
