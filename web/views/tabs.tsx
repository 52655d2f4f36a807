import { useKeys } from './keys.js';
import { Button } from './parts.js';

interface TabsProps<Name extends string> {
  readonly names: readonly Name[];
  /** Shown beside a name. */
  readonly counts: Readonly<Partial<Record<string, number>>>;
  readonly current: Name;
  readonly onChange: (name: Name) => void;
}

/** The tabs of a page: the arrow keys move between them, and digits choose one. */
export function Tabs<Name extends string>({ names, counts, current, onChange }: TabsProps<Name>) {
  useKeys(Object.fromEntries(names.map((name, at) => [at + 1, () => onChange(name)])));
  const move = (event: KeyboardEvent): void => {
    const at = names.indexOf(current);
    const to: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      Home: 0,
      End: names.length - 1,
    };
    const wanted = to[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    const name = names[(wanted + names.length) % names.length];
    if (name === undefined) return;
    onChange(name);
    document.getElementById(`tab-${name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views of the task" onKeyDown={move}>
      {names.map((name) => (
        <Button
          key={name}
          role="tab"
          id={`tab-${name}`}
          aria-selected={current === name}
          aria-controls="tab-panel"
          tabIndex={current === name ? 0 : -1}
          act={() => onChange(name)}
        >
          {name}
          {counts[name] !== undefined && <span class="count">{counts[name]}</span>}
        </Button>
      ))}
    </div>
  );
}
