import { useEffect, useState } from 'preact/hooks';
import type { ActionError, ImageSide } from '../../src/board/protocol.js';
import type { DiffFile } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { visible } from '../text/visible.js';
import { ErrorLine } from './error-line.js';

interface ViewProps {
  readonly store: Store;
  readonly taskId: string;
  readonly file: DiffFile;
}

/** A changed image as it was before, and beside it as it is now. */
export function ImagesView({ store, taskId, file }: ViewProps) {
  const { path, old_path: oldPath = path, change } = file;
  return (
    <div class="images">
      {change !== 'created' && <Side {...{ store, taskId }} label="Before" file={oldPath} side="old" />}
      {change !== 'deleted' && <Side {...{ store, taskId }} label="Now" file={path} side="new" />}
    </div>
  );
}

interface SideProps extends Omit<ViewProps, 'file'> {
  readonly label: string;
  readonly file: string;
  readonly side: 'old' | 'new';
}

function Side({ store, taskId, label, file, side }: SideProps) {
  const [image, setImage] = useState<ImageSide>();
  const [error, setError] = useState<ActionError>();
  const [size, setSize] = useState('');
  // Other changes may be of this image, too.
  const files = store.diff.value?.files;
  useEffect(() => {
    void store.act({ type: 'image.read', task_id: taskId, file, side }).then((outcome) => {
      setImage(outcome.ok ? outcome.image : undefined);
      setError(outcome.ok ? undefined : outcome.error);
    });
  }, [store, taskId, file, side, files]);
  const url = image?.url;
  return (
    <figure>
      <figcaption class="quiet">
        {label}
        {image !== undefined && url !== null && `: ${size}${image.bytes} bytes`}
        {url === null && ': there is no file'}
      </figcaption>
      <ErrorLine error={error} />
      {typeof url === 'string' && (
        <img
          src={url}
          alt={`${label}: ${visible(file)}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setSize(`${naturalWidth} × ${naturalHeight}, `)
          }
          onError={() => setSize('the browser cannot show it, ')}
        />
      )}
    </figure>
  );
}
