import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../src/base/errors.js';
import type { Disposable } from '../../../src/base/lifecycle.js';
import { EditorError } from '../editor-error.js';

/** A program in a terminal. */
export interface PtyProcess {
  readonly pid: number;
  onData(listener: (text: string) => void): Disposable;
  onExit(
    listener: (end: { readonly exitCode: number; readonly signal?: number | undefined }) => void,
  ): Disposable;
  write(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal?: string): void;
}

export interface PtyOptions {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export type SpawnPty = (program: string, args: readonly string[], options: PtyOptions) => PtyProcess;

/** Where an editor keeps its own modules: in a folder, and in an archive. */
const PLACES = ['node_modules', 'node_modules.asar', 'node_modules.asar.unpacked'];

const modulePart = z.object({
  spawn: z.custom<SpawnPty>((value) => typeof value === 'function'),
});

/** The editor's own terminals: no native module of ours is needed. Throws NOT_SUPPORTED where it has none. */
export function loadPty(appRoot: string): SpawnPty {
  const require = createRequire(join(appRoot, 'package.json'));
  const reasons: string[] = [];
  for (const place of PLACES) {
    const folder = join(appRoot, place, 'node-pty');
    if (place === 'node_modules' && !existsSync(folder)) continue;
    try {
      return modulePart.parse(require(folder)).spawn;
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  throw new EditorError(
    'NOT_SUPPORTED',
    `This editor has no terminals for extensions: ${reasons.at(-1) ?? 'node-pty is missing'}.`,
    'Use a shell with shell integration: bash, zsh, fish or pwsh.',
  );
}
