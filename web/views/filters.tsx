import type { BoardState } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { shortPath } from '../text/words.js';
import { groupNames, projectsOf, type Filter } from './groups.js';

interface FiltersProps {
  readonly board: BoardState;
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
  readonly home: string;
}

/** Which project and which group are shown. */
export function Filters({ board, filter, onChange, home }: FiltersProps) {
  const projects = projectsOf(board);
  return (
    <div class="bar filters">
      <select
        aria-label="Project"
        value={filter.project}
        onChange={(event) => onChange({ ...filter, project: event.currentTarget.value })}
      >
        <option value="">All projects</option>
        {projects.map((path) => (
          <option key={path} value={path}>
            {visible(shortPath(path, home))}
          </option>
        ))}
      </select>
      <select
        aria-label="State"
        value={filter.group}
        onChange={(event) => onChange({ ...filter, group: event.currentTarget.value })}
      >
        <option value="">Any state</option>
        {Object.entries(groupNames).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
