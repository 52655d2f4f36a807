import { expect, test } from 'vitest';
import { marksAround } from '../../src/os/marks-around.js';

const processes = [
  { pid: 1, parentPid: undefined, mark: undefined },
  { pid: 10, parentPid: 1, mark: undefined },
  { pid: 20, parentPid: 10, mark: 'outer' },
  { pid: 30, parentPid: 20, mark: 'inner' },
  { pid: 40, parentPid: 30, mark: undefined },
  { pid: 50, parentPid: 1, mark: 'elsewhere' },
];

test('outside of tasks there is no mark', () => {
  expect(marksAround(undefined, processes, 10)).toEqual([]);
});

test('the own mark comes first, then those of the processes above', () => {
  expect(marksAround('own', processes, 40)).toEqual(['own', 'inner', 'outer']);
});

test('a process whose environment lost the mark is found by those above it', () => {
  expect(marksAround(undefined, processes, 40)).toEqual(['inner', 'outer']);
});

test('a forged mark does not hide the true ones', () => {
  expect(marksAround('elsewhere', processes, 40)).toEqual(['elsewhere', 'inner', 'outer']);
});

test('parents in a circle end', () => {
  const circle = [
    { pid: 2, parentPid: 3, mark: undefined },
    { pid: 3, parentPid: 2, mark: 'x' },
  ];
  expect(marksAround(undefined, circle, 2)).toEqual(['x']);
});
