import { lstat } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, ignoreMissing } from '../base/errors.js';
import type { Once } from '../base/once.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedPath, AllowedRoots } from '../projects/allowed-roots.js';
import type { OpenedPath } from '../projects/opened-path.js';
import type { PathOpener } from '../projects/path-opener.js';
import { alikeOf, makeDirectories, shownPath, type WriteGuard } from './write/make-directories.js';
import { writeGuard } from './write/protected-path.js';
import { readPage, type FilePage } from './read/read-page.js';
import { readRange, type FileRange, type RangeQuery } from './read/read-range.js';
import {
  writeFileAt,
  readyFileSchema,
  writtenFileSchema,
  type WriteRequest,
  type WrittenFile,
} from './write/write-file.js';

export interface FilesystemOptions {
  readonly roots: AllowedRoots;
  readonly opener: PathOpener;
  readonly activeProject: ActiveProject;
  readonly clock: Clock;
  /** Lines that count as the header of a file. */
  readonly headerLines: number;
  readonly allowProtectedWrites: boolean;
  /** Permissions of new files, from the umask. */
  readonly newFileMode: number;
  readonly once: Once;
}

/** What a caller writes. */
export interface FileToWrite extends Pick<WriteRequest, 'content' | 'expectedSha256'> {
  readonly path: string;
  /** The same with the same id is written once, and is the answer each time. */
  readonly requestId?: string | undefined;
}

export interface ReadFileQuery {
  readonly path: string;
  readonly cursor?: string | undefined;
  /** True to read only the header. */
  readonly header?: boolean | undefined;
  readonly maxBytes: number;
}

/** Reads and writes single files. Paths are absolute, begin with `~/`, or are relative to the active project. */
export class FilesystemService {
  readonly #options: FilesystemOptions;
  readonly #refuse: WriteGuard;
  /** The last write for each path; writes run one after the other, so that none comes between check and replacement of another. */
  readonly #writes = new Map<string, Promise<unknown>>();

  constructor(options: FilesystemOptions) {
    this.#options = options;
    this.#refuse = writeGuard(options.roots, options.allowProtectedWrites);
  }

  /** Throws like `PathOpener.openFile` and `readPage`. */
  async readFile({ path, cursor, header, maxBytes }: ReadFileQuery): Promise<FilePage> {
    const { headerLines, clock } = this.#options;
    const query = { cursor, maxLines: header === true ? headerLines : undefined, maxBytes };
    return this.#withFile(path, (opened) => readPage(opened, query, clock));
  }

  /** Throws like `PathOpener.openFile` and `readRange`. */
  async readRange({ path, ...query }: RangeQuery & { readonly path: string }): Promise<FileRange> {
    return this.#withFile(path, (opened) => readRange(opened, query, this.#options.clock));
  }

  async #withFile<T>(path: string, use: (opened: OpenedPath) => Promise<T>): Promise<T> {
    const { opener, activeProject } = this.#options;
    const opened = await opener.openFile(await activeProject.absolute(path));
    try {
      return await use(opened);
    } finally {
      await opened.handle.close();
    }
  }

  /** Throws like `AllowedRoots.resolve` and `writeFileAt`, PROTECTED_PATH, and as `Once` with a request id. */
  async writeFile({ requestId, ...file }: FileToWrite): Promise<WrittenFile> {
    return this.#options.once(
      requestId,
      { tool: 'write_file', ...file },
      { outcome: writtenFileSchema, note: readyFileSchema },
      async (note, noted) => {
        if (noted === undefined) return this.#write(file, note);
        const { temporary, ...written } = noted;
        const isReplaced = (await lstat(temporary).catch(ignoreMissing)) === undefined;
        return isReplaced ? written : this.#write(file, note);
      },
    );
  }

  async #write(request: FileToWrite, note: WriteRequest['note']): Promise<WrittenFile> {
    const { opener, newFileMode } = this.#options;
    if (/\p{Surrogate}/u.test(request.content)) {
      const message = `The content for '${shownPath(request.path)}' contains half of a character (a lone surrogate).`;
      throw new BridgeError('INVALID_ARGUMENTS', message, 'Give text that can be written as UTF-8.');
    }
    if (request.path.endsWith('/')) {
      const message = `Path '${shownPath(request.path)}' ends with /, so it names a directory.`;
      throw new BridgeError('NOT_A_FILE', message, 'Give the path of a file, or use create_directory.');
    }
    const real = await this.#writable(request.path);
    return this.#inTurn(real, () =>
      writeFileAt(opener, { ...request, real, newFileMode, refuse: this.#refuse, note }),
    );
  }

  /** Creates a directory and its parents. Throws like `AllowedRoots.resolve` and `makeDirectories`, and PROTECTED_PATH. */
  async createDirectory(path: string): Promise<Pick<WrittenFile, 'path' | 'created' | 'alike'>> {
    const { opener } = this.#options;
    const { directory, outermost } = await makeDirectories(opener, await this.#writable(path), this.#refuse);
    await directory.handle.close();
    const alike = await alikeOf(opener, outermost);
    const made = { path: directory.path, created: outermost !== undefined };
    return { ...made, ...(alike !== undefined && { alike }) };
  }

  async #writable(path: string): Promise<AllowedPath> {
    const { roots, activeProject } = this.#options;
    const absolute = roots.absolute(await activeProject.absolute(path));
    const real = await roots.resolve(absolute);
    await this.#refuse(absolute);
    await this.#refuse(real);
    return real;
  }

  async #inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#writes.get(path);
    const turn = (before ?? Promise.resolve()).then(work, work);
    this.#writes.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.#writes.get(path) === turn) this.#writes.delete(path);
    }
  }
}
