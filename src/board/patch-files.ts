// Pure: the files of a patch as git prints it.
import { isUtf8 } from 'node:buffer';
import { headBytes } from '../base/text.js';
import type { FilesPatchQuery } from '../git/diff/files-patch.js';
import { patchName, unquoted } from '../git/diff/patch-text.js';
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

/** More than a page gets; what git prints beyond it is not read. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** Passes the patch on. Throws the errors of git. */
export type ReadPatch = (
  query: FilesPatchQuery,
  take: (chunk: Buffer) => void,
  signal: AbortSignal,
) => Promise<void>;

/** The files of a patch, and what is not shown of it. Throws as `readPatch`. */
export async function filesOfPatch(
  readPatch: ReadPatch,
  query: FilesPatchQuery,
  signal: AbortSignal,
): Promise<{ readonly files: readonly DiffFile[]; readonly notes: readonly string[] }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= MAX_READ_BYTES) chunks.push(chunk);
  };
  await readPatch(query, take, signal);
  const isCut = bytes > MAX_READ_BYTES;
  return {
    files: patchFiles(Buffer.concat(chunks)),
    notes: isCut ? ['The patch is longer than 16 MB: this is its beginning.'] : [],
  };
}

/** The files of a patch, each with its hunks as git prints them. Of a long patch the first files have their hunks, and the others are named. */
export function patchFiles(patch: Buffer): DiffFile[] {
  const isText = isUtf8(patch);
  let bytes = 0;
  return sections(patch.toString('utf8')).map((lines) => {
    const hunksAt = lines.findIndex((line) => line.startsWith('@@'));
    const head = hunksAt === -1 ? lines : lines.slice(0, hunksAt);
    const body = hunksAt === -1 ? [] : lines.slice(hunksAt);
    const whole = body.join('\n');
    const hunks = bytes > MAX_PATCH_BYTES ? '' : headBytes(whole, MAX_FILE_BYTES);
    bytes += hunks.length;
    const begins = (start: string): boolean => head.some((line) => line.startsWith(start));
    const after = (start: string): string | undefined =>
      head.find((line) => line.startsWith(start))?.slice(start.length);
    const before = after('rename from ');
    const mode = modeWords(after);
    return {
      path: patchName(head.map(oneByteEach))?.toString('utf8') ?? 'unknown',
      change: begins('new file mode')
        ? 'created'
        : begins('deleted file mode')
          ? 'deleted'
          : begins('rename to ')
            ? 'renamed'
            : 'changed',
      ...(before !== undefined && { old_path: unquoted(oneByteEach(before)).toString('utf8') }),
      ...(mode !== undefined && { mode }),
      ...(!isText && whole.includes('\ufffd') && { is_misread: true }),
      is_binary: begins('Binary files '),
      insertions: body.filter((line) => line.startsWith('+')).length,
      deletions: body.filter((line) => line.startsWith('-')).length,
      hunks,
      is_cut: hunks.length < whole.length,
    };
  });
}

function sections(patch: string): string[][] {
  const all: string[][] = [];
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) all.push([]);
    all.at(-1)?.push(line);
  }
  // The last one ends with the line break of the patch.
  for (const lines of all) if (lines.at(-1) === '') lines.pop();
  return all;
}

/** The mode where it is new, or is not that of an ordinary file. */
function modeWords(after: (start: string) => string | undefined): string | undefined {
  const [before, now] = [after('old mode '), after('new mode ')];
  if (before !== undefined && now !== undefined) return `mode ${before} → ${now}`;
  const mode = after('new file mode ') ?? after('deleted file mode ') ?? after('index ')?.split(' ')[1];
  const kind = mode === undefined ? undefined : KINDS[mode];
  return kind === undefined ? undefined : `${kind} (mode ${mode})`;
}

function oneByteEach(line: string): string {
  return Buffer.from(line).toString('latin1');
}
