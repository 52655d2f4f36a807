import { useId, useState } from 'preact/hooks';
import type { ClientAction } from '../../src/board/protocol.js';
import type { Store } from '../store.js';
import { shortPath } from '../text/words.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, useAction, useFocus } from './parts.js';
import { useDraft } from './text-box.js';
import { BackLink } from './task-head.js';

type Start = Extract<ClientAction, { type: 'task.start' }>;

/** The modes as docs/guide.md has them; the empty one is what the settings say. */
const modes: readonly (readonly [NonNullable<Start['permission_mode']> | '', string])[] = [
  ['', 'As the settings say'],
  ['auto', 'auto: asks nothing'],
  ['cautious', 'cautious: asks before commands'],
  ['sandboxed', 'sandboxed: confines commands'],
  ['claude', 'claude: its own auto mode'],
];
const places = [
  ['queue', 'In the project, after the task that works there'],
  ['always_worktree', 'In a git worktree of its own'],
] as const;

/** The form for a new task. What was typed stays while the page is open. */
export function NewTask({ store }: { readonly store: Store }) {
  const tasks = Object.values(store.board.value?.tasks ?? {}).sort((a, b) =>
    b.created_at.localeCompare(a.created_at),
  );
  const home = store.home.value;
  const projects = [...new Set(tasks.map(({ project_path }) => shortPath(project_path, home)))];
  const models = [...new Set(tasks.flatMap(({ model }) => model ?? []))];
  const prompt = useDraft('new task');
  const field = useFocus<HTMLTextAreaElement>();
  const [project, setProject] = useState(projects[0] ?? '');
  const [mode, setMode] = useState(0);
  const [place, setPlace] = useState(0);
  const [model, setModel] = useState('');
  const [dollars, setDollars] = useState('');
  const { send, error, isBusy } = useAction(store);
  const isWhole = prompt.text.trim() !== '' && project.trim() !== '';
  const start = (): void => {
    if (!isWhole || isBusy) return;
    const permission_mode = modes[mode]?.[0];
    const action: Start = {
      type: 'task.start',
      path: project.trim().replace(/^~(?=\/|$)/, home),
      prompt: prompt.text,
      on_conflict: places[place]?.[0] ?? 'queue',
      ...(permission_mode && { permission_mode }),
      ...(model.trim() !== '' && { model: model.trim() }),
      ...(dollars !== '' && { max_cost_usd: Number(dollars) }),
    };
    send(action, ({ task_id }) => {
      prompt.sent(action.prompt);
      openTaskPage(task_id);
    });
  };
  return (
    <main aria-label="New task">
      <BackLink />
      <form
        class="new-task"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
        }}
      >
        <h2>New task</h2>
        <label>
          Prompt
          <textarea
            ref={field}
            dir="auto"
            rows={6}
            required
            placeholder="What is Claude to do?"
            value={prompt.text}
            onInput={(event) => prompt.set(event.currentTarget.value)}
          />
        </label>
        <Suggested
          label="Project"
          hint="A folder on this machine"
          all={projects}
          {...{ value: project }}
          onChange={setProject}
        />
        <div class="pair">
          <Choice label="Mode" all={modes} value={mode} onChange={setMode} />
          <Suggested
            label="Model"
            hint="As the settings say"
            all={models}
            value={model}
            onChange={setModel}
          />
        </div>
        <div class="pair">
          <Choice label="Where" all={places} value={place} onChange={setPlace} />
          <label>
            Budget in US dollars
            <input
              type="number"
              min="0.01"
              step="0.01"
              placeholder="As the settings say"
              value={dollars}
              onInput={(event) => setDollars(event.currentTarget.value)}
            />
          </label>
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={!isWhole || isBusy}>
            {isBusy ? 'Starting…' : 'Start task'}
          </button>
          <button type="button" class="plain" onClick={() => openTaskPage(undefined)}>
            Cancel
          </button>
          <small>Ctrl+Enter starts it</small>
        </div>
        <ErrorLine error={error} />
      </form>
    </main>
  );
}

interface SuggestedProps {
  readonly label: string;
  readonly hint: string;
  readonly all: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A text, with those that tasks had before. */
function Suggested({ label, hint, all, value, onChange }: SuggestedProps) {
  return (
    <div>
      <label>
        {label}
        <input
          type="text"
          list={`known ${label}`}
          placeholder={hint}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
      <datalist id={`known ${label}`}>
        {all.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: readonly (readonly [string, string])[];
  readonly value: number;
  readonly onChange: (value: number) => void;
}

function Choice({ label, all, value, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} onChange={(event) => onChange(event.currentTarget.selectedIndex)}>
        {all.map(([name, words], at) => (
          <option key={name} selected={at === value}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
