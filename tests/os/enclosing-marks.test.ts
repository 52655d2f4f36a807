import { expect, test } from 'vitest';
import { enclosingMarks } from '../../src/os/enclosing-marks.js';

const processes = [
  { pid: 1, parentPid: undefined, mark: undefined },
  { pid: 10, parentPid: 1, mark: undefined },
  { pid: 20, parentPid: 10, mark: 'outer' },
  { pid: 30, parentPid: 20, mark: 'inner' },
  { pid: 40, parentPid: 30, mark: undefined },
  { pid: 50, parentPid: 1, mark: 'elsewhere' },
];

test('there is no mark outside tasks', () => {
  expect(enclosingMarks(undefined, processes, 10)).toEqual([]);
});

test('the own mark comes first, then those of the ancestors', () => {
  expect(enclosingMarks('own', processes, 40)).toEqual(['own', 'inner', 'outer']);
});

test('a process that lost the mark from its environment gets it from its ancestors', () => {
  expect(enclosingMarks(undefined, processes, 40)).toEqual(['inner', 'outer']);
});

test('a forged mark does not hide the true ones', () => {
  expect(enclosingMarks('elsewhere', processes, 40)).toEqual(['elsewhere', 'inner', 'outer']);
});

test('a circle of parents does not loop forever', () => {
  const circle = [
    { pid: 2, parentPid: 3, mark: undefined },
    { pid: 3, parentPid: 2, mark: 'x' },
  ];
  expect(enclosingMarks(undefined, circle, 2)).toEqual(['x']);
});
