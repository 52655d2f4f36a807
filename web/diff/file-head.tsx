import type { ComponentChildren } from 'preact';
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
      <span class="path">{visible(file.path)}</span>{' '}
      <span class="quiet">
        {file.change}
        {file.old_path !== undefined && ` from ${visible(file.old_path)}`}
        {file.is_binary ? ', binary' : `, +${file.insertions} −${file.deletions}`}
      </span>{' '}
      {children}
    </summary>
  );
}
