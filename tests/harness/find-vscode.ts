import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const CACHE = join(root, '.cache', 'vscode');
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** The newest one, and the oldest that the extension supports. */
const VERSIONS = [
  // A window that was closed lives on for that many seconds.
  { version: '1.139.1', options: ['--reconnection-grace-time', '1'] },
  { version: '1.100.3', options: [] },
] as const;

export interface InstalledVscode {
  readonly version: string;
  /** Of its code-server. */
  readonly folder: string;
  /** Of this version alone. */
  readonly options: readonly string[];
  /** The others are tested in a short form. */
  readonly isNewest: boolean;
}

declare module 'vitest' {
  export interface ProvidedContext {
    vscodes: readonly InstalledVscode[];
    /** The extension, packed as it is installed. */
    vsix: string;
  }
}

interface Provider {
  provide(key: 'vscodes', value: readonly InstalledVscode[]): void;
  provide(key: 'vsix', value: string): void;
}

/** Vitest's global set-up: the real editors as far as they are installed, and the extension for them. */
export function setup(project: Provider): (() => void) | undefined {
  const vscodes = VERSIONS.map(({ version, options }, index) => ({
    version,
    options,
    folder: join(CACHE, version),
    isNewest: index === 0,
  })).filter(({ folder }) => existsSync(join(folder, 'complete')));
  const isComplete = vscodes.length === VERSIONS.length && existsSync(CHROMIUM);
  if (!isComplete && process.env['CI'] === 'true')
    throw new Error('VS Code is not installed: scripts/install-vscode.sh .cache/vscode');
  if (!isComplete) {
    process.stderr.write(
      'WITHOUT VS Code: its tests are left out; scripts/install-vscode.sh .cache/vscode installs it, and they need Chromium.\n',
    );
    project.provide('vscodes', []);
    project.provide('vsix', '');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'vsix-'));
  const vsix = join(folder, 'extension.vsix');
  execFileSync(process.execPath, [join(root, 'scripts', 'package-vscode.mjs'), vsix], { stdio: 'pipe' });
  project.provide('vscodes', vscodes);
  project.provide('vsix', vsix);
  return () => rmSync(folder, { recursive: true, force: true });
}
