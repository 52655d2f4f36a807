// Pure: what a final message claims to have been done. Only English is understood; what is not understood is no claim.
import { basename } from 'node:path';
import { oneLine } from '../../base/text/text.js';

export type Claim =
  | {
      readonly about: 'file';
      readonly sentence: string;
      readonly path: string;
      /** `named`: it is spoken of, and nothing is said to have been done to it. */
      readonly done: 'created' | 'changed' | 'deleted' | 'named';
    }
  /** `name` is left out where a commit is claimed without its name; `made` where it is said to be the task's own. */
  | { readonly about: 'commit'; readonly sentence: string; readonly name?: string; readonly made: boolean }
  | { readonly about: 'tests'; readonly sentence: string; readonly count?: number };

const SENTENCE_CHARS = 200;
/** A message with more claims is a listing; git has the truth of it. */
const MAX_CLAIMS = 100;

/** What was not done, will be, or might be, is no claim. */
const NOT_CLAIMED =
  /\b(?:not|never|no longer|cannot|without|unable|failed to|should|could|would|can|will|may|might|must|todo|needs? to|need|let me|if|unless|consider|plan|next steps?|please|recommend|suggest|want|before (?:I|the)|\w+n['’]t)\b/i;
const DELETED = /\b(?:deleted|removed|dropped)\b/i;
const CREATED = /\b(?:created?|added|wrote|written|generated|introduced|new files?|scaffolded)\b/i;
const CHANGED =
  /\b(?:updated|modified|changed|edited|fixed|refactored|rewrote|rewritten|renamed|moved|replaced|implemented|improved|extended|adjusted|patched|cleaned up)\b/i;
const COMMITTED =
  /\b(?:committed|commit(?:ted)? (?:the|all|my|these) changes|(?:made|created) (?:a|an|one|the|two|three|\d+)\b[^.]{0,30}\bcommits?)\b/i;
const TESTS_PASS =
  /\btests?(?: suites?)?\b[^.]{0,60}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b|\bpass(?:es|ed|ing)? (?:all|every|the)\b[^.]{0,30}\btests?\b|\b\d+ passed\b|\b(?:0|no|zero) (?:test )?failures\b/i;
const TESTS_FAIL =
  /\b(?:[1-9]\d*|some|one|two|several|still|currently) (?:tests? )?(?:are |is )?fail(?:s|ed|ing|ures?)?\b/i;
const TEST_COUNT = /\b(\d+)(?:\/\d+)? (?:\w+ ){0,2}tests?\b|\b(\d+) passed\b/i;

const FENCE = /^ *(?:```|~~~)/;
const BULLET = /^ *(?:[-*+•]|\d+[.)]) +/;
const HASH = /(?<![\w#/.-])[0-9a-f]{7,64}(?![\w/-]|\.\w)/g;
const QUOTED = /`([^`\n]{1,200})`/g;
/** Outside of quotes, a name counts as a file's only with an extension of this list. */
const EXTENSIONS = new Set(
  'ts tsx mts cts js jsx mjs cjs json jsonc md mdx txt py pyi ipynb go mod sum rs java kt kts c h cc cpp hpp cs fs rb php sh bash zsh ps1 yml yaml toml ini cfg conf css scss less html htm xml svg sql graphql proto vue svelte swift dart lua r jl ex exs erl hs ml scala clj tf lock csv tsv log png jpg jpeg gif ico pdf gradle properties env dockerfile'.split(
    ' ',
  ),
);
const PLAIN_NAMES = new Set([
  'Makefile',
  'Dockerfile',
  'LICENSE',
  'README',
  'CHANGELOG',
  'Gemfile',
  'Procfile',
]);
/** Products and runtimes that look like files. */
const NO_FILES =
  /^(?:node|vue|next|nuxt|react|express|three|d3|ember|backbone|chart|moment|socket|deno|bun|alpine|discord|electron|nest|ember)\.js$|^process\.env$|^(?:e\.g|i\.e)\.?$/i;
const PATH_WORD =
  /(?:^|[\s("'[*])((?:\.{0,2}\/|~\/)?(?:[\w@+-][\w@.+-]*\/)*[\w@+.-]*\w)(?::\d+(?:[-:]\d+)*)?(?=$|[\s,;:!?)\]"'*]|\.(?:\s|$))/g;

export function claimsOf(message: string): Claim[] {
  const claims: Claim[] = [];
  let inFence = false;
  let heading = '';
  for (const line of message.split('\n')) {
    if (FENCE.test(line)) {
      inFence = !inFence;
      continue;
    }
    if (inFence || line.trim() === '') continue;
    const isBullet = BULLET.test(line);
    if (!isBullet) heading = /:\**$|^#/.test(line.trim()) ? line : '';
    for (const sentence of sentencesOf(line.replace(BULLET, '')))
      claims.push(...claimsOfSentence(sentence, isBullet ? heading : ''));
  }
  return unique(claims).slice(0, MAX_CLAIMS);
}

/** A dot between two words ends a sentence; one within a name does not. */
function sentencesOf(line: string): string[] {
  return line.split(/(?<=[.!?])\s+(?=[A-Z`"'*_])/).filter((sentence) => sentence.trim() !== '');
}

function claimsOfSentence(sentence: string, heading: string): Claim[] {
  if (NOT_CLAIMED.test(sentence)) return [];
  const shown = oneLine(sentence.trim(), SENTENCE_CHARS);
  const done = doneIn(sentence) ?? doneIn(heading) ?? 'named';
  const claims: Claim[] = pathsIn(sentence).map((path) => ({ about: 'file', sentence: shown, path, done }));
  const made = COMMITTED.test(sentence);
  const isOfCommits = made || /\bcommits?\b/i.test(sentence) || /\bcommits?\b/i.test(heading);
  const names = hashesIn(sentence, isOfCommits);
  for (const name of names) claims.push({ about: 'commit', sentence: shown, name, made });
  if (made && names.length === 0) claims.push({ about: 'commit', sentence: shown, made });
  if (TESTS_PASS.test(sentence) && !TESTS_FAIL.test(sentence)) {
    const match = TEST_COUNT.exec(sentence);
    const count = match?.[1] ?? match?.[2];
    claims.push({ about: 'tests', sentence: shown, ...(count !== undefined && { count: Number(count) }) });
  }
  return claims;
}

function doneIn(text: string): 'created' | 'changed' | 'deleted' | undefined {
  if (DELETED.test(text)) return 'deleted';
  if (CREATED.test(text)) return 'created';
  return CHANGED.test(text) ? 'changed' : undefined;
}

function pathsIn(sentence: string): string[] {
  const paths = new Set<string>();
  const rest = sentence.replace(QUOTED, (_all, inside: string) => {
    const path = inside.replace(/:\d+(?:[-:]\d+)*$/, '');
    if (/^[\w@+~./[\]()-]+$/.test(path) && (path.includes('/') ? isFilePath(path) : isFileName(path)))
      paths.add(path);
    return ' ';
  });
  const plain = rest.replace(/\b\w+:\/\/\S+/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, ' $1 ');
  for (const [, path = ''] of plain.matchAll(PATH_WORD))
    if (isFileName(basename(path)) && isFilePath(path)) paths.add(path);
  return [...paths];
}

/** Folders, routes (`/api/users`), homes and options are no files that can be looked for. */
function isFilePath(path: string): boolean {
  const name = basename(path);
  if (path.endsWith('/') || path.startsWith('~') || path.startsWith('-')) return false;
  return PLAIN_NAMES.has(name) || /.\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(name) || /^\.[a-z][\w.-]+$/.test(name);
}

function isFileName(name: string): boolean {
  if (NO_FILES.test(name)) return false;
  if (PLAIN_NAMES.has(name) || /^\.(?:gitignore|env|npmrc|editorconfig|dockerignore)$/.test(name))
    return true;
  const extension = /^[\w@+.[\]-]+\.([A-Za-z][A-Za-z0-9]*)$/.exec(name)?.[1];
  return extension !== undefined && EXTENSIONS.has(extension.toLowerCase());
}

/** Words of hex letters alone, and numbers, are names of commits only where commits are spoken of. */
function hashesIn(sentence: string, isOfCommits: boolean): string[] {
  const found = [...sentence.matchAll(HASH)].map(([name]) => name);
  return [...new Set(found)].filter((name) => isOfCommits || (/[a-f]/.test(name) && /\d/.test(name)));
}

/** A file that is named twice is claimed once, by the stronger of the two. */
function unique(claims: readonly Claim[]): Claim[] {
  const kept = new Map<string, Claim>();
  for (const claim of claims) {
    const key = claim.about === 'file' ? `file ${claim.path}` : JSON.stringify(claim);
    const known = kept.get(key);
    if (known === undefined || (known.about === 'file' && known.done === 'named')) kept.set(key, claim);
  }
  return [...kept.values()];
}
