// Pure: what the help of each command shows below its options.

/** By the words of the command; each example stands behind the name of the program. */
const examples: Readonly<Record<string, readonly string[]>> = {
  '': ['run "Fix the failing test."', 'tasks', 'board'],
  serve: ['serve', 'serve ~/Projects /srv/work'],
  run: [
    'run "node test.js fails. Find out why and fix it."',
    'run --mode cautious --worktree "Update the dependencies."',
    'run --continue d93a7d "Now write a test for it."',
    'run - < prompt.md',
  ],
  board: ['board', 'board --port 7777 --no-open'],
  attach: ['attach', 'attach d93a7d --read-only'],
  tasks: ['tasks', 'tasks show d93a7d', 'tasks answer d93a7d y'],
  'tasks list': ['tasks list', 'tasks list --json'],
  'tasks show': ['tasks show', 'tasks show d93a7d'],
  'tasks log': ['tasks log d93a7d'],
  'tasks follow': ['tasks follow d93a7d'],
  'tasks diff': ['tasks diff d93a7d', 'tasks diff d93a7d > work.patch'],
  'tasks answer': [
    'tasks answer d93a7d y',
    'tasks answer d93a7d dec_2 n "Use pnpm."',
    'tasks answer d93a7d 2',
    'tasks answer d93a7d --option 2 --option "the blue one"',
  ],
  'tasks message': ['tasks message d93a7d "Use pnpm instead of npm."'],
  'tasks interrupt': ['tasks interrupt d93a7d'],
  'tasks kill': ['tasks kill d93a7d', 'tasks kill d93a7d --reason "The wrong branch."'],
  'tasks finish': ['tasks finish d93a7d merge', 'tasks finish d93a7d apply'],
  'tasks prune': ['tasks prune', 'tasks prune --keep 50'],
  native: ['native', 'native answer d93a7d y'],
  'native list': ['native list --json'],
  'native show': ['native show d93a7d'],
  'native answer': ['native answer d93a7d y', 'native answer d93a7d 2'],
  'native off': ['native off'],
  'native on': ['native on'],
  init: ['init', 'init --roots ~/Projects,/srv/work --client claude-code,cursor', 'init --print zed'],
  trust: ['trust', 'trust ~/Projects/shop-math --remove'],
  doctor: ['doctor', 'doctor --quick --json'],
  demo: ['demo', 'demo --claude /opt/claude/bin/claude'],
  version: ['version --check'],
};

/** At least one for each command. */
export function examplesOf(command: string): readonly string[] {
  return examples[command] ?? [];
}
