// Pure: the files of a patch as a page shows them.
import { isUtf8 } from 'node:buffer';
import { headBytes } from '../base/text.js';
import type { FilesPatchQuery } from '../git/diff/files-patch.js';
import { PatchReader, type Patch } from '../git/diff/patch.js';
import { unquoted } from '../git/diff/patch-text.js';
import type { DiffFile } from './state.js';

/** Of one file, and of all together, a page gets no more. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_PATCH_BYTES = 4 * 1024 * 1024;
/** What a mode of git says, where that is not an ordinary file. */
const KINDS: Readonly<Record<string, string>> = {
  '100755': 'executable',
  '120000': 'link',
  '160000': 'repository of its own',
};

/** Passes the patch on. Throws the errors of git. */
export type ReadPatch = (
  query: FilesPatchQuery,
  take: (chunk: Buffer) => void,
  signal: AbortSignal,
) => Promise<void>;

/** The files of a patch, and what is not shown of it; `read` passes it on. Throws as `read`. */
export async function filesOfPatch(
  read: (take: (chunk: Buffer) => void) => Promise<unknown>,
): Promise<{ readonly files: readonly DiffFile[]; readonly notes: readonly string[] }> {
  const reader = new PatchReader();
  await read((chunk) => reader.push(chunk));
  const patch = reader.finish();
  const isCut = patch.totalBytes > patch.bytes.length;
  return {
    files: patchFiles(patch),
    notes: isCut ? ['The patch is longer than 16 MB: this is its beginning.'] : [],
  };
}

/** The files of a patch, each with its hunks as git prints them. Of a long patch the first files have their hunks, and the others are named. */
export function patchFiles({ bytes, sections }: Patch): DiffFile[] {
  const isText = isUtf8(bytes);
  let shown = 0;
  return sections.map(({ file, start, hunks: first, end }) => {
    const head = bytes.toString('latin1', start, first).split('\n');
    const whole = bytes.toString('utf8', first, end).replace(/\n$/, '');
    const hunks = shown > MAX_PATCH_BYTES ? '' : headBytes(whole, MAX_FILE_BYTES);
    shown += hunks.length;
    const lines = whole.split('\n');
    const begins = (text: string): boolean => head.some((line) => line.startsWith(text));
    const after = (text: string): string | undefined =>
      head.find((line) => line.startsWith(text))?.slice(text.length);
    const before = after('rename from ');
    const mode = modeWords(after);
    return {
      path: file === '' ? 'unknown' : file,
      change: begins('new file mode')
        ? 'created'
        : begins('deleted file mode')
          ? 'deleted'
          : begins('rename to ')
            ? 'renamed'
            : 'changed',
      ...(before !== undefined && { old_path: unquoted(before).toString('utf8') }),
      ...(mode !== undefined && { mode }),
      ...(!isText && whole.includes('\ufffd') && { is_misread: true }),
      is_binary: begins('Binary files '),
      insertions: lines.filter((line) => line.startsWith('+')).length,
      deletions: lines.filter((line) => line.startsWith('-')).length,
      hunks,
      is_cut: hunks.length < whole.length,
    };
  });
}

/** The mode where it is new, or is not that of an ordinary file. */
function modeWords(after: (start: string) => string | undefined): string | undefined {
  const [before, now] = [after('old mode '), after('new mode ')];
  if (before !== undefined && now !== undefined) return `mode ${before} → ${now}`;
  const mode = after('new file mode ') ?? after('deleted file mode ') ?? after('index ')?.split(' ')[1];
  const kind = mode === undefined ? undefined : KINDS[mode];
  return kind === undefined ? undefined : `${kind} (mode ${mode})`;
}
