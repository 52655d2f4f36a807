import { useState } from 'preact/hooks';
import type { ActionError } from '../../src/board/protocol.js';
import type { ReplayCommit, ReplayFiles, ReplayState } from '../../src/board/replay/replay-state.js';
import type { DiffFile } from '../../src/board/state.js';
import { FileHead } from '../diff/file-head.js';
import { LineText } from '../diff/line-text.js';
import { parseHunks } from '../../src/board/parse-hunks.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { momentWords } from './times.js';

const SHORT_HASH = 8;

type Since = 'commit' | 'task';

interface Shown extends ReplayFiles {
  readonly of: ReplayCommit;
  readonly since: Since;
}

/** The files as they were at a moment, where git has them: as they were committed last. */
export function FilesAt({
  store,
  taskId,
  state,
  beganMs,
  last,
}: {
  readonly store: Store;
  readonly taskId: string;
  readonly state: ReplayState;
  /** When the recording began, in milliseconds since the epoch. */
  readonly beganMs: number;
  /** Committed last before the moment. */
  readonly last: ReplayCommit | undefined;
}) {
  const [shown, setShown] = useState<Shown>();
  const [error, setError] = useState<ActionError>();
  const show = (of: ReplayCommit, since: Since): void =>
    void store.act({ type: 'replay.files', task_id: taskId, commit: of.commit, since }).then((outcome) => {
      setError(outcome.ok ? undefined : outcome.error);
      setShown(outcome.ok && outcome.files !== undefined ? { ...outcome.files, of, since } : undefined);
    });
  return (
    <section aria-label="Files as they were">
      <h3>Files as they were</h3>
      {last === undefined ? (
        <p class="quiet">{visible(whyNone(state))}</p>
      ) : (
        <div class="actions">
          <span>
            Committed last, at {momentWords(last.at_ms - beganMs)}:{' '}
            <span dir="auto">{visible(last.subject)}</span> <code>{last.commit.slice(0, SHORT_HASH)}</code>
          </span>
          <button type="button" onClick={() => show(last, 'commit')}>
            What this commit changed
          </button>
          <button type="button" onClick={() => show(last, 'task')}>
            All changes up to it
          </button>
        </div>
      )}
      {error !== undefined && (
        <p class="error" role="alert">
          {visible(error.message)} {visible(error.hint)}
        </p>
      )}
      {shown !== undefined && shown.of.commit === last?.commit && <ShownFiles shown={shown} />}
    </section>
  );
}

function whyNone({ commits, files_why }: ReplayState): string {
  if (files_why !== null) return files_why;
  if (commits.length === 0) return 'git is asked for commits…';
  return 'git has no state of the files at this moment: the task had committed nothing yet.';
}

function ShownFiles({ shown: { of, since, files, notes } }: { readonly shown: Shown }) {
  return (
    <div class="diff-view">
      <p class="quiet">
        {since === 'commit' ? 'Changed by' : 'Changed since the task began, up to'}{' '}
        <code>{of.commit.slice(0, SHORT_HASH)}</code> <span dir="auto">{visible(of.subject)}</span>:{' '}
        {files.length} {files.length === 1 ? 'file' : 'files'}
      </p>
      {notes.map((note) => (
        <p key={note} class="quiet">
          {visible(note)}
        </p>
      ))}
      {files.map((file) => (
        <FileAt key={file.path} file={file} />
      ))}
    </div>
  );
}

function FileAt({ file }: { readonly file: DiffFile }) {
  return (
    <details class="file">
      <FileHead file={file} />
      <table class="lines">
        <tbody>
          {parseHunks(file.hunks).map((line, at) => (
            <tr key={at} class={line.kind}>
              <td class="number">{line.old}</td>
              <td class="number">{line.now}</td>
              <td class="code" dir="ltr">
                <LineText line={line} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {file.is_cut && <p class="quiet">The rest is not shown: the file has too many changed lines.</p>}
    </details>
  );
}
