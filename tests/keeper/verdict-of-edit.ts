import { TaskRules } from '../../src/keeper/main/task-judge.js';
import { sampleSpec } from '../tasks/sample-task.js';

/** The rules of a careful task in a project. */
export function taskRules(project: string, trusted: readonly string[]): TaskRules {
  return new TaskRules({
    spec: sampleSpec({ project_path: project }),
    plansFolder: undefined,
    projectRules: [],
    trusted,
    mode: () => 'cautious',
    refusal: () => Promise.resolve(undefined),
    beforeCall: () => Promise.resolve(),
  });
}

/** What a careful task in a project says of an edit of a file. */
export async function verdictOfEdit(
  project: string,
  file: string,
  trusted: readonly string[] = [],
): Promise<string> {
  const rules = taskRules(project, trusted);
  return (await rules.beforeTool({ tool: 'Write', input: { file_path: file } })).verdict;
}
