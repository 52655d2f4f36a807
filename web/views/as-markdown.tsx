import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { lazy } from '../lazy.js';
import { Block, Guard, Button } from './parts.js';
import { isReadable } from '../markdown/is-readable.js';

const Markdown = lazy(async () => (await import('../markdown/markdown.js')).Markdown);

interface Props {
  readonly label: string;
  readonly text: string;
  /** The text as it is written, where it cannot be shown otherwise. */
  readonly plain: ComponentChildren;
}

/** A text as Markdown, where it may be read so. */
export function AsMarkdown({ label, text, plain }: Props) {
  if (!isReadable(text)) return <>{plain}</>;
  return (
    <Guard what="This text as Markdown" hint="Read it as it is written.">
      <Markdown of={{ label, text }} fallback={plain} />
    </Guard>
  );
}

/** A plan, read as Markdown or as it is written. */
export function Plan({ text }: { readonly text: string }) {
  const [isPlain, setIsPlain] = useState(false);
  const plain = <Block label="Plan" text={text} isWrapped />;
  if (!isReadable(text)) return plain;
  return (
    <>
      {isPlain ? plain : <AsMarkdown label="Plan" text={text} plain={plain} />}
      <Button look="small" act={() => setIsPlain(!isPlain)}>
        {isPlain ? 'As Markdown' : 'As written'}
      </Button>
    </>
  );
}
