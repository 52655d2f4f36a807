import { watch, type FSWatcher } from 'node:fs';
import { messageOf } from '../errors.js';
import { toDisposable, type Disposable } from '../lifecycle.js';
import type { Logger } from '../logger.js';

/** Calls back for each change in a folder until disposed, where the system can watch it. */
export function watchFolder(folder: string, onChange: () => void, logger: Logger): Disposable {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, onChange);
  } catch (error) {
    logger.debug('A folder cannot be watched', { folder, error: messageOf(error) });
    return toDisposable(() => undefined);
  }
  watcher.on('error', (error) => {
    logger.debug('A folder is no longer watched', { folder, error: messageOf(error) });
    watcher.close();
  });
  return toDisposable(() => watcher.close());
}
