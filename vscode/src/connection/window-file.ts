import { rmSync } from 'node:fs';
import {
  editorFile,
  newEditorId,
  sweepEditorWindows,
  writeEditorWindow,
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
  #path: string | undefined;

  constructor(facts: WindowFacts) {
    this.#facts = facts;
  }

  /** Throws STATE_UNUSABLE. */
  async write(statePath: string, port: number, token: string): Promise<void> {
    const { version, editor, startedAt, folders, isTrusted } = this.#facts;
    await sweepEditorWindows(statePath);
    this.#path = editorFile(this.#id, statePath);
    await writeEditorWindow(
      {
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
      },
      statePath,
    );
  }

  /** Synchronous, for a window that closes. */
  removeNow(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    this.#path = undefined;
  }
}
