import type { FilesystemService } from './filesystem-service.js';

/** What callers use of the service. */
export type FileAccess = Pick<FilesystemService, 'readFile' | 'readRange' | 'writeFile' | 'createDirectory'>;

/** A service that `build` makes when the first call needs it; what it throws, each call throws. */
export function lazyFilesystemService(build: () => Promise<FileAccess>): FileAccess {
  return {
    readFile: async (query) => (await build()).readFile(query),
    readRange: async (query) => (await build()).readRange(query),
    writeFile: async (request) => (await build()).writeFile(request),
    createDirectory: async (path) => (await build()).createDirectory(path),
  };
}
