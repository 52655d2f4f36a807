// Pure: words that are about tools, for a person at a page.

const GO_ON = 'start_task and continue_from this task';
/** What is said to a model, and what a person at the board can do instead. */
const PHRASES: readonly (readonly [string | RegExp, string])[] = [
  [GO_ON, 'the box on its page'],
  [/ \((?:message_task|wait_for_task|get_task_status|start_task with model)\)/g, ''],
  ['The view "screen" shows it', 'The tab Terminal shows it'],
  ['(get_task_output with view "screen")', '(the tab Terminal)'],
  [/ with (?:start_task|wait_for_task|message_task|kill_task|finish_task|get_task_result)\b/g, ''],
  [' without continue_from', ''],
  [/\bthen call again\b/g, 'then try again'],
  [/\bCall (?:respond_to_task )?again\b/g, 'Try again'],
  [/\bget_task_status (says|gives|lists)/g, 'The page of the task $1'],
  [/\bgit_status shows/g, 'git status shows'],
  [/\blist_tasks (names|shows)/g, 'The list of tasks $1'],
];

/** A reason or hint without the names of tools. */
export function onPage(text: string): string {
  return PHRASES.reduce((said, [words, instead]) => said.replaceAll(words, instead), text);
}
