import { existsSync, rmSync, writeFileSync } from 'node:fs';
import {
  editorFile,
  newEditorId,
  sweepEditorWindows,
  writeEditorWindow,
  type EditorWindow,
} from '../../../src/editor/discovery.js';
import { EDITOR_PROTOCOL } from '../../../src/editor/protocol.js';
import { ownIdentity } from '../../../src/store/process-identity.js';

export interface WindowFacts {
  readonly version: string;
  readonly editor: string;
  readonly startedAt: string;
  readonly folders: () => readonly string[];
  readonly isTrusted: () => boolean;
}

/** The discovery file of this window, while it listens. */
export class WindowFile {
  readonly #facts: WindowFacts;
  readonly #id = newEditorId();
  #written: { readonly path: string; readonly window: EditorWindow } | undefined;

  constructor(facts: WindowFacts) {
    this.#facts = facts;
  }

  pathIn(statePath: string): string {
    return editorFile(this.#id, statePath);
  }

  /** Throws STATE_UNUSABLE. */
  async write(statePath: string, port: number, token: string): Promise<void> {
    const { version, editor, startedAt, folders, isTrusted } = this.#facts;
    await sweepEditorWindows(statePath);
    const window: EditorWindow = {
      v: EDITOR_PROTOCOL,
      id: this.#id,
      version,
      editor,
      port,
      token,
      owner: await ownIdentity(),
      folders: [...folders()],
      trusted: isTrusted(),
      started_at: startedAt,
    };
    this.#written = { path: this.pathIn(statePath), window };
    await writeEditorWindow(window, statePath);
  }

  removeNow(): void {
    if (this.#written !== undefined) rmSync(this.#written.path, { force: true });
    this.#written = undefined;
  }

  /** Synchronous, for a window that closes. The file says so until its process has ended, and is then removed by another window. */
  leaveNow(): void {
    if (this.#written === undefined) return;
    const { path, window } = this.#written;
    this.#written = undefined;
    if (existsSync(path)) writeFileSync(path, JSON.stringify({ ...window, leaving: true }));
  }
}
