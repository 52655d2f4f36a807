import { expect, test } from 'vitest';
import { fileFacts } from '../../src/board/parse-hunks.js';
import { patchFiles } from '../../src/board/patch-files.js';
import { PatchReader } from '../../src/git/diff/patch.js';

function filesOf(patch: Buffer | string) {
  const reader = new PatchReader();
  reader.push(Buffer.from(patch));
  return patchFiles(reader.finish());
}

const patch = `diff --git a/a.js b/a.js
index 1..2 100644
--- a/a.js
+++ b/a.js
@@ -1,2 +1,2 @@
-old
+new
 diff --git a/not/a/header b/not/a/header
diff --git a/made.txt b/made.txt
new file mode 100644
--- /dev/null
+++ b/made.txt
@@ -0,0 +1 @@
+one
diff --git a/x.png b/x.png
index 1..2 100644
Binary files a/x.png and b/x.png differ
diff --git a/here b/there
similarity index 100%
rename from here
rename to there
diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"
deleted file mode 100644
--- "a/\\303\\244.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
`;

test('each file has its name, what became of it, and its hunks', () => {
  expect(filesOf(patch)).toMatchObject([
    { path: 'a.js', change: 'changed', insertions: 1, deletions: 1, is_cut: false },
    { path: 'made.txt', change: 'created', hunks: '@@ -0,0 +1 @@\n+one' },
    { path: 'x.png', is_binary: true, hunks: '' },
    { path: 'there', change: 'renamed', old_path: 'here', insertions: 0 },
    { path: 'ä.txt', change: 'deleted', deletions: 1 },
  ]);
});

test('a long file is cut and says so', () => {
  const long = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,100000 @@\n${'+line\n'.repeat(100_000)}`;
  const [file] = filesOf(long);
  expect(file).toMatchObject({ path: 'a', is_cut: true, insertions: 100_000 });
  expect(file?.hunks.length).toBeLessThan(300_000);
});

test.each([
  ['old mode 100644\nnew mode 100755\n', 'mode 100644 → 100755'],
  ['new file mode 120000\nindex 0..1\n', 'created, link (mode 120000)'],
  ['index 1..2 120000\n', 'link (mode 120000)'],
  ['new file mode 100755\n', 'created, executable (mode 100755)'],
  ['new file mode 160000\nindex 0..1\n', 'created, repository of its own (mode 160000)'],
  ['index 1..2 100644\n', ''],
])('a mode is said as git says it: %j', (head, facts) => {
  const [file] = filesOf(`diff --git a/run.sh b/run.sh\n${head}`);
  expect(file && fileFacts(file)).toBe(facts);
});

test('a file that is not UTF-8 says so, and the others do not', () => {
  const head = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n';
  const patch = [Buffer.from(`${head}+caf`), Buffer.from([0xe9, 10]), Buffer.from(`${head}+café\n`)];
  const files = filesOf(Buffer.concat(patch));
  expect(files.map(fileFacts)).toEqual(['not all of it is UTF-8', '']);
  expect(filesOf(`${head}+\ufffd\n`).map(fileFacts)).toEqual(['']);
});
