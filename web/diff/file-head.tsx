import type { DiffFile } from '../../src/board/state.js';
import { visible } from '../text/visible.js';

/** The name of a changed file, and how much of it changed. */
export function FileHead({ file }: { readonly file: DiffFile }) {
  return (
    <summary>
      <span class="path">{visible(file.path)}</span>{' '}
      <span class="quiet">
        {file.change}
        {file.old_path !== undefined && ` from ${visible(file.old_path)}`}
        {file.is_binary ? ', binary' : `, +${file.insertions} −${file.deletions}`}
      </span>
    </summary>
  );
}
