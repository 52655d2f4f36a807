import type { DecisionView } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { useSurface } from './surface.js';

/** The whole of what is asked for: a command, an edit as it would be, a plan, or its fields. */
export function RequestView({ decision }: { readonly decision: DecisionView }) {
  return (
    <>
      <Request decision={decision} />
      {decision.input_is_cut && (
        <p class="error">This is only the beginning: the log of the task has the whole.</p>
      )}
    </>
  );
}

function Request({ decision }: { readonly decision: DecisionView }) {
  const { Plan } = useSurface();
  const { input, tool, kind } = decision;
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const command = text('command');
  if (kind === 'permission' && command !== undefined) {
    return (
      <>
        {text('description') !== undefined && <p dir="auto">{visible(text('description') ?? '')}</p>}
        <Block label="Command" text={command} />
        <OtherFields input={input} shown={['command', 'description']} />
      </>
    );
  }
  const line = text('line');
  if (kind === 'prompt' && line !== undefined) return <Block label="Question in the terminal" text={line} />;
  const plan = text('plan');
  if (kind === 'plan' && plan !== undefined) {
    return (
      <>
        <Plan text={plan} />
        <OtherFields input={input} shown={['plan']} />
      </>
    );
  }
  const before = text('old_string');
  const after = text('new_string');
  const path = text('file_path') ?? text('notebook_path');
  const pathField = text('file_path') === undefined ? 'notebook_path' : 'file_path';
  if (path !== undefined && before !== undefined && after !== undefined) {
    return (
      <>
        <p class="path">{visible(path)}</p>
        <EditLines before={before} after={after} />
        <OtherFields input={input} shown={[pathField, 'old_string', 'new_string']} />
      </>
    );
  }
  const content = text('content');
  if (path !== undefined && content !== undefined) {
    return (
      <>
        <p class="path">{visible(path)}</p>
        <Block label={`New content of ${path}`} text={content} />
        <OtherFields input={input} shown={[pathField, 'content']} />
      </>
    );
  }
  if (Object.keys(input).length === 0) return <Block label={tool} text={decision.summary} />;
  return <OtherFields input={input} shown={[]} />;
}

/** Every field that is not shown separately: each may change what an answer allows. */
function OtherFields({
  input,
  shown,
}: {
  readonly input: DecisionView['input'];
  readonly shown: readonly string[];
}) {
  const rest = Object.entries(input).filter(([name]) => !shown.includes(name));
  if (rest.length === 0) return null;
  return (
    <dl class="fields">
      {rest.map(([name, value]) => (
        <div key={name}>
          <dt class="quiet">{visible(name)}</dt>
          <dd>
            <Block label={name} text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} />
          </dd>
        </div>
      ))}
    </dl>
  );
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

interface BlockProps {
  readonly label: string;
  readonly text: string;
  readonly isWrapped?: boolean;
}

/** Text as it is; all of it can be scrolled to, with the keyboard too. */
export function Block({ label, text, isWrapped = false }: BlockProps) {
  return (
    <pre class={isWrapped ? 'block wrapped' : 'block'} tabIndex={0} aria-label={label} dir="auto">
      {visible(text)}
    </pre>
  );
}
