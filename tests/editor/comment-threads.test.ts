import { describe, expect, test } from 'vitest';
import type { DiffFile, ReviewComment } from '../../src/board/state.js';
import { commentableLines, quotedLine } from '../../vscode/src/tasks/changes/changed-lines.js';
import { threadsOf, type ThreadView } from '../../vscode/src/tasks/changes/comment-threads.js';
import { deferred } from '../../vscode/src/deferred.js';
import { ShownThreads, type ShownThread } from '../../vscode/src/tasks/changes/shown-threads.js';

const file: DiffFile = {
  path: 'a.js',
  change: 'changed',
  is_binary: false,
  insertions: 2,
  deletions: 1,
  hunks: [
    '@@ -1,2 +1,3 @@',
    '-\ufefflet a;\r',
    '+\ufeffconst a;\r',
    '+const b;',
    ' end',
    '@@ -9 +10 @@',
    ' far',
  ].join('\n'),
  is_cut: false,
};
const lines = ['const a;', 'const b;', 'end'];
const document = { lineCount: lines.length, textAt: (line: number) => lines[line - 1] ?? '' };
const comment: ReviewComment = {
  comment_id: 'c1',
  file: 'a.js',
  side: 'new',
  line: 2,
  quoted: 'const b;',
  text: 'Why?',
  state: 'draft',
};
const onRight = { file: 'a.js', side: 'new' } as const;

describe('lines', () => {
  test('on the left can be commented on when they were removed, on the right when they are in a hunk', () => {
    expect(commentableLines(file, 'old')).toEqual([[1, 1]]);
    expect(commentableLines(file, 'new')).toEqual([
      [1, 3],
      [10, 10],
    ]);
  });

  test('are quoted as git has them, and as the editor shows them where git has another text', () => {
    expect(quotedLine(file, 'new', 1, 'const a;')).toBe('\ufeffconst a;\r');
    expect(quotedLine(file, 'old', 1, 'let a;')).toBe('\ufefflet a;\r');
    expect(quotedLine(file, 'new', 2, 'const c;')).toBe('const c;');
    expect(quotedLine(undefined, 'new', 2, 'const c;')).toBe('const c;');
  });
});

describe('comments', () => {
  test('on one line are one thread, which says how many are to be sent', () => {
    const sent: ReviewComment = { ...comment, comment_id: 'c2', state: 'sent', text: 'And this?' };
    expect(threadsOf([comment, sent], onRight, document)).toEqual([
      {
        line: 2,
        label: '1 to send, 1 sent',
        hasDrafts: true,
        comments: [
          { id: 'c1', text: 'Why?', label: 'Not sent yet.', isRemovable: true },
          { id: 'c2', text: 'And this?', label: 'Sent.', isRemovable: false },
        ],
      },
    ]);
  });

  test('of other files and of the other side are not there', () => {
    const others: ReviewComment[] = [
      { ...comment, file: 'b.js' },
      { ...comment, side: 'old' },
    ];
    expect(threadsOf(others, onRight, document)).toEqual([]);
  });

  test.each([
    ['unsure', true],
    ['answered', false],
  ] as const)('that are %s can be removed: %s', (state, isRemovable) => {
    const [thread] = threadsOf([{ ...comment, state }], onRight, document);
    expect(thread).toMatchObject({ hasDrafts: false, comments: [{ isRemovable }] });
  });

  test('whose line is another one now, or is gone, quote the one that they are about', () => {
    const [moved] = threadsOf([{ ...comment, quoted: 'let b;' }], onRight, document);
    expect(moved).toMatchObject({ line: 2, comments: [{ text: 'On line 2, which was: let b;\nWhy?' }] });
    const [gone] = threadsOf([{ ...comment, line: 9 }], onRight, document);
    expect(gone).toMatchObject({ line: 3, comments: [{ text: 'On line 9, which was: const b;\nWhy?' }] });
  });

  test('show characters that are not seen as escapes, and line breaks as they are', () => {
    const [thread] = threadsOf([{ ...comment, text: 'a\u202eb\n\u200bc' }], onRight, document);
    expect(thread?.comments[0]?.text).toBe('a\\u202eb\n\\u200bc');
  });
});

class FakeThread implements ShownThread {
  shown: ThreadView | undefined;
  isDisposed = false;

  show(view: ThreadView): void {
    this.shown = view;
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

describe('threads in the editor', () => {
  const written = { document: 'uri', line: 2, text: 'Why?' };
  const views = threadsOf([comment], onRight, document);

  function fakeThreads() {
    const made: FakeThread[] = [];
    const threads = new ShownThreads(() => {
      const thread = new FakeThread();
      made.push(thread);
      return thread;
    });
    return { made, threads };
  }

  test('are made once for a line, and end when its last comment is removed', () => {
    const { made, threads } = fakeThreads();
    threads.sync('uri', views);
    threads.sync('uri', views);
    expect(made).toHaveLength(1);
    threads.sync('uri', []);
    expect(made[0]?.isDisposed).toBe(true);
  });

  test('end with their document', () => {
    const { made, threads } = fakeThreads();
    threads.sync('a', views);
    threads.sync('b', views);
    threads.retain(new Set(['b']));
    expect(made.map(({ isDisposed }) => isDisposed)).toEqual([true, false]);
    threads.dispose();
    expect(made.map(({ isDisposed }) => isDisposed)).toEqual([true, true]);
  });

  test('that a person began become those of their line when the comment is stored', async () => {
    const { made, threads } = fakeThreads();
    const begun = new FakeThread();
    await threads.write(written, begun, async () => threads.sync('uri', []));
    threads.sync('uri', views);
    expect([made.length, begun.shown, begun.isDisposed]).toEqual([0, views[0], false]);
  });

  test('store a comment once when its button is pressed twice', async () => {
    const { threads } = fakeThreads();
    const begun = new FakeThread();
    const stored = deferred<undefined>();
    const texts: string[] = [];
    const press = (text: string): Promise<void> =>
      threads.write({ ...written, text }, begun, async () => {
        texts.push(text);
        await stored.promise;
      });
    const pressed = [press('Why?'), press('Why?'), press('And how?')];
    stored.resolve(undefined);
    await Promise.all(pressed);
    await press('Why?');
    expect(texts).toEqual(['Why?', 'And how?', 'Why?']);
  });

  test('that a person began stay as they are when the comment is not stored', async () => {
    const { made, threads } = fakeThreads();
    const begun = new FakeThread();
    const full = () => Promise.reject(new Error('the disk is full'));
    await expect(threads.write(written, begun, full)).rejects.toThrow('the disk is full');
    threads.sync('uri', views);
    expect([made.length, begun.shown, begun.isDisposed]).toEqual([1, undefined, false]);
  });

  test('that a person began on a line that has one give way to it', async () => {
    const { made, threads } = fakeThreads();
    threads.sync('uri', views);
    const begun = new FakeThread();
    await threads.write(written, begun, async () => undefined);
    expect([begun.isDisposed, made[0]?.isDisposed]).toEqual([true, false]);
    const [shown] = made;
    if (shown === undefined) throw new Error('no thread');
    await threads.write(written, shown, async () => undefined);
    expect(shown.isDisposed).toBe(false);
  });
});
