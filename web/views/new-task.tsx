import { useId, useState } from 'preact/hooks';
import type { ClientAction } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { machineOf } from '../text/machines.js';
import { shortPath } from '../text/words.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, useAction, useFocus, Button } from './parts.js';
import { BackLink } from './task-head.js';
import { useDraft } from './text-box.js';

type Start = Extract<ClientAction, { type: 'task.start' }>;

const HERE = 'This one';
const AS_SET = 'As the settings say';
const modes = {
  [AS_SET]: undefined,
  'auto: asks nothing': 'auto',
  'cautious: asks before commands': 'cautious',
  'sandboxed: confines commands': 'sandboxed',
  'claude: its own auto mode': 'claude',
} as const;
const places = {
  'In the project, when it is free': 'queue',
  'In a git worktree of its own': 'always_worktree',
} as const;

/** What the form says; the home folder of the machine may be written as `~`. */
function startOf(form: HTMLFormElement, machine: string, home: string): Start {
  const fields = new FormData(form);
  const text = (name: string): string => String(fields.get(name) ?? '').trim();
  const chosen = <T,>(choices: Readonly<Record<string, T>>, name: string): T | undefined =>
    choices[text(name)];
  const permission_mode = chosen(modes, 'Mode');
  return {
    type: 'task.start',
    ...(machine !== HERE && { machine }),
    path: home === '' ? text('Project') : text('Project').replace(/^~(?=\/|$)/, home),
    prompt: text('Prompt'),
    on_conflict: chosen(places, 'Where') ?? 'queue',
    ...(permission_mode !== undefined && { permission_mode }),
    ...(text('Model') !== '' && { model: text('Model') }),
    ...(text('Budget') !== '' && { max_cost_usd: Number(text('Budget')) }),
  };
}

/** The form for a new task. Its prompt stays while the page is open. */
export function NewTask({ store }: { readonly store: Store }) {
  const board = store.board.value;
  const machines = Object.fromEntries(
    [HERE, ...Object.keys(board?.machines ?? {})].map((name) => [name, name]),
  );
  const [machine, setMachine] = useState(HERE);
  const home = machine === HERE ? store.home.value : (board?.machines[machine]?.home ?? '');
  const tasks = Object.values(board?.tasks ?? {}).filter((task) => (machineOf(task) ?? HERE) === machine);
  const newest = tasks.sort((a, b) => b.created_at.localeCompare(a.created_at));
  const projects = newest.map(({ project_path }) => shortPath(project_path, home));
  const prompt = useDraft('new task');
  const field = useFocus<HTMLTextAreaElement>();
  const { send, error, isBusy } = useAction(store);
  return (
    <main aria-label="New task">
      <BackLink />
      <form
        class="new-task"
        onSubmit={(event) => {
          event.preventDefault();
          send(startOf(event.currentTarget, machine, home), ({ task_id }) => {
            prompt.set('');
            openTaskPage(task_id);
          });
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
      >
        <h2>New task</h2>
        <label>
          Prompt
          <textarea
            ref={field}
            name="Prompt"
            dir="auto"
            rows={6}
            required
            placeholder="What is Claude to do?"
            value={prompt.text}
            onInput={(event) => prompt.set(event.currentTarget.value)}
          />
        </label>
        {Object.keys(machines).length > 1 && (
          <Choice name="Machine" choices={machines} onChange={setMachine} />
        )}
        <Text
          key={machine}
          name="Project"
          hint={machine === HERE ? 'A folder on this machine' : `A folder on ${machine}`}
          known={projects}
          first={projects[0]}
        />
        <div class="pair">
          <Choice name="Mode" choices={modes} />
          <Text name="Model" hint={AS_SET} known={newest.flatMap(({ model }) => model ?? [])} />
        </div>
        <div class="pair">
          <Choice name="Where" choices={places} />
          <label>
            Budget in US dollars
            <input type="number" name="Budget" min="0.01" step="0.01" placeholder={AS_SET} />
          </label>
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Starting…' : 'Start task'}
          </button>
          <Button look="plain" act={() => openTaskPage(undefined)}>
            Cancel
          </Button>
          <small>Ctrl+Enter starts it</small>
        </div>
        <ErrorLine error={error} />
      </form>
    </main>
  );
}

interface TextProps {
  readonly name: string;
  readonly hint: string;
  /** Those of tasks before. */
  readonly known: readonly string[];
  readonly first?: string | undefined;
}

function Text({ name, hint, known, first }: TextProps) {
  const id = useId();
  return (
    <div>
      <label>
        {name}
        <input
          type="text"
          name={name}
          list={id}
          placeholder={hint}
          defaultValue={first}
          required={name === 'Project'}
        />
      </label>
      <datalist id={id}>
        {[...new Set(known)].map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly choices: Readonly<Record<string, unknown>>;
  readonly onChange?: (chosen: string) => void;
}

function Choice({ name, choices, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <select id={id} name={name} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {Object.keys(choices).map((words) => (
          <option key={words}>{words}</option>
        ))}
      </select>
    </div>
  );
}
