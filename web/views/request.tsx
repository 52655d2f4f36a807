import type { ComponentChildren } from 'preact';
import type { DecisionView } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { Block } from './parts.js';
import { useSurface } from './surface.js';

/** The whole of what is asked for: a command, an edit as it would be, a plan, and every other field of the request. */
export function RequestView({ decision }: { readonly decision: DecisionView }) {
  const { input, tool, summary } = decision;
  const { shown, names } = useMainPart(decision);
  // Each may change what an answer allows.
  const rest = Object.entries(input).filter(([name]) => !names.includes(name));
  return (
    <>
      {shown}
      {Object.keys(input).length === 0 && <Block label={tool} text={summary} />}
      {rest.length > 0 && (
        <dl class="fields">
          {rest.map(([name, value]) => (
            <div key={name}>
              <dt class="quiet">{visible(name)}</dt>
              <dd>
                <Block
                  label={name}
                  text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
                />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

interface MainPart {
  readonly shown: ComponentChildren;
  /** The fields that it shows. */
  readonly names: readonly string[];
}

/** What a person looks for first, in the form that reads best. */
function useMainPart({ input, kind }: DecisionView): MainPart {
  const { Plan } = useSurface();
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const [command, description, line, plan] = ['command', 'description', 'line', 'plan'].map(text);
  if (kind === 'permission' && command !== undefined) {
    const shown = (
      <>
        {description !== undefined && <p dir="auto">{visible(description)}</p>}
        <Block label="Command" text={command} />
      </>
    );
    return { shown, names: ['command', ...(description === undefined ? [] : ['description'])] };
  }
  if (kind === 'prompt' && line !== undefined)
    return { shown: <Block label="Question in the terminal" text={line} />, names: Object.keys(input) };
  if (kind === 'plan' && plan !== undefined) {
    const shown = Plan === undefined ? <Block label="Plan" text={plan} isWrapped /> : <Plan text={plan} />;
    return { shown, names: ['plan'] };
  }
  const [before, after, content] = ['old_string', 'new_string', 'content'].map(text);
  const pathField = text('file_path') === undefined ? 'notebook_path' : 'file_path';
  const path = text(pathField);
  if (path === undefined) return { shown: null, names: [] };
  const head = <p class="path">{visible(path)}</p>;
  if (before !== undefined && after !== undefined) {
    const shown = [head, <EditLines key="edit" before={before} after={after} />];
    return { shown, names: [pathField, 'old_string', 'new_string'] };
  }
  if (content === undefined) return { shown: null, names: [] };
  const shown = [head, <Block key="content" label={`New content of ${path}`} text={content} />];
  return { shown, names: [pathField, 'content'] };
}

/** What would be taken away and what would stand there instead. */
function EditLines({ before, after }: { readonly before: string; readonly after: string }) {
  return (
    <pre class="block diff" tabIndex={0} aria-label="Edit">
      {before !== '' &&
        before.split('\n').map((line, at) => (
          <del key={`a${at}`}>
            -{visible(line)}
            {'\n'}
          </del>
        ))}
      {after.split('\n').map((line, at) => (
        <ins key={`b${at}`}>
          +{visible(line)}
          {'\n'}
        </ins>
      ))}
    </pre>
  );
}
