import type { DecisionView } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { Plan } from './plan.js';

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
  const { input, tool, kind } = decision;
  const text = (name: string): string | undefined => {
    const value = input[name];
    return typeof value === 'string' ? value : undefined;
  };
  const command = text('command');
  if (kind === 'permission' && command !== undefined) {
    return (
      <>
        {text('description') !== undefined && <p dir="auto">{visible(text('description') ?? '')}</p>}
        <Block label="Command" text={command} />
      </>
    );
  }
  const line = text('line');
  if (line !== undefined) return <Block label="Question in the terminal" text={line} />;
  const plan = text('plan');
  if (plan !== undefined) return <Plan text={plan} />;
  const before = text('old_string');
  const after = text('new_string');
  const path = text('file_path') ?? text('path') ?? text('notebook_path');
  if (path !== undefined && before !== undefined && after !== undefined) {
    return (
      <>
        <p class="path">{visible(path)}</p>
        <EditLines before={before} after={after} />
      </>
    );
  }
  const content = text('content');
  if (path !== undefined && content !== undefined) {
    return (
      <>
        <p class="path">{visible(path)}</p>
        <Block label={`New content of ${path}`} text={content} />
      </>
    );
  }
  const rest = Object.keys(input).length === 0 ? decision.summary : JSON.stringify(input, null, 2);
  return <Block label={tool} text={rest} />;
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
