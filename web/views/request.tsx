import type { ComponentChildren } from 'preact';
import type { DecisionView } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { Block } from './parts.js';
import { useSurface } from './surface.js';

/** The whole of what is asked for: a command, an edit as it would be, a plan, and every other field of the request. */
export function RequestView({ decision }: { readonly decision: DecisionView }) {
  const { input, tool, summary } = decision;
  const [names, shown] = useMainPart(decision);
  // Each may change what an answer allows.
  const rest = Object.entries(input).filter(([name]) => !names.includes(name));
  return (
    <>
      {shown}
      {Object.keys(input).length === 0 && <Block label={tool} text={summary} />}
      {rest.length > 0 && (
        <dl class="fields">
          {rest.map(([name, value]) => {
            const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
            return (
              <div key={name}>
                <dt class="quiet">{visible(name)}</dt>
                <dd>
                  <Block label={name} text={text} />
                </dd>
              </div>
            );
          })}
        </dl>
      )}
    </>
  );
}

/** What a person looks for first, in the form that reads best, and the fields that it shows. */
function useMainPart({ input, kind }: DecisionView): [names: readonly string[], shown: ComponentChildren] {
  const { Plan } = useSurface();
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const [command, description, line, plan] = ['command', 'description', 'line', 'plan'].map(text);
  if (kind === 'permission' && command !== undefined) {
    const block = <Block label="Command" text={command} />;
    if (description === undefined) return [['command'], block];
    return [
      ['command', 'description'],
      [<p dir="auto">{visible(description)}</p>, block],
    ];
  }
  if (kind === 'prompt' && line !== undefined)
    return [Object.keys(input), <Block label="Question in the terminal" text={line} />];
  if (kind === 'plan' && plan !== undefined)
    return [
      ['plan'],
      Plan === undefined ? <Block label="Plan" text={plan} isWrapped /> : <Plan text={plan} />,
    ];
  const [before, after, content] = ['old_string', 'new_string', 'content'].map(text);
  const pathField = text('file_path') === undefined ? 'notebook_path' : 'file_path';
  const path = text(pathField);
  if (path === undefined) return [[], null];
  const head = <p class="path">{visible(path)}</p>;
  if (before !== undefined && after !== undefined)
    return [
      [pathField, 'old_string', 'new_string'],
      [head, <EditLines before={before} after={after} />],
    ];
  if (content === undefined) return [[], null];
  return [
    [pathField, 'content'],
    [head, <Block label={`New content of ${path}`} text={content} />],
  ];
}

/** What would be taken away and what would stand there instead. */
function EditLines({ before, after }: { readonly before: string; readonly after: string }) {
  const gone = before === '' ? [] : before.split('\n');
  return (
    <pre class="block diff" tabIndex={0} aria-label="Edit">
      {gone.map((text) => (
        <del>{`-${visible(text)}\n`}</del>
      ))}
      {after.split('\n').map((text) => (
        <ins>{`+${visible(text)}\n`}</ins>
      ))}
    </pre>
  );
}
