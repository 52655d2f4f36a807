import { Suspense } from '../lazy.js';
import { useState } from 'preact/hooks';
import { isReadable } from '../markdown/is-readable.js';
import { Guard } from './guard.js';
import { Block } from './request.js';
import { Markdown } from './late-parts.js';

/** A plan, read as Markdown or as it is written. */
export function Plan({ text }: { readonly text: string }) {
  const [isPlain, setIsPlain] = useState(false);
  const plain = <Block label="Plan" text={text} isWrapped />;
  if (!isReadable(text)) return plain;
  return (
    <>
      {isPlain ? (
        plain
      ) : (
        <Guard what="The plan as Markdown" hint="Read it as it is written.">
          <Suspense fallback={plain}>
            <Markdown label="Plan" text={text} />
          </Suspense>
        </Guard>
      )}
      <button type="button" class="switch" onClick={() => setIsPlain(!isPlain)}>
        {isPlain ? 'As Markdown' : 'As written'}
      </button>
    </>
  );
}
