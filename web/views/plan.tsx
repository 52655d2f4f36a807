import { Suspense } from '../lazy.js';
import { useState } from 'preact/hooks';
import { Guard } from './guard.js';
import { Block } from './request.js';
import { Markdown } from '../parts.js';

/** Longer plans, and deeper ones, are shown as they are written: to parse them could stop the page. */
const MAX_CHARS = 100_000;
const DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){20}/m;

/** A plan, read as Markdown or as it is written. */
export function Plan({ text }: { readonly text: string }) {
  const isReadable = text.length <= MAX_CHARS && !DEEP.test(text);
  const [isPlain, setIsPlain] = useState(false);
  const plain = <Block label="Plan" text={text} isWrapped />;
  if (!isReadable) return plain;
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
