import type { ComponentChildren } from 'preact';
import { fileFacts } from '../../src/board/parse-hunks.js';
import type { DiffFile } from '../../src/board/state.js';
import { visible } from '../text/visible.js';

interface HeadProps {
  readonly file: DiffFile;
  /** What can be done to it. */
  readonly children?: ComponentChildren;
}

/** The name of a changed file, and how much of it changed. */
export function FileHead({ file, children }: HeadProps) {
  return (
    <summary>
      <span class="path">{visible(file.path)}</span> <span class="quiet">{visible(fileFacts(file))}</span>{' '}
      {children}
    </summary>
  );
}
