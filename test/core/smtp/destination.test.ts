import { expect, test } from 'vitest';
import { chooseExchangers } from '../../../core/smtp/destination.ts';

const mx = (priority: number, exchange: string) => ({ priority, exchange });
const first = () => 0.5;

test('tries hosts by preference', () => {
  const records = [mx(30, 'c.test'), mx(10, 'a.test'), mx(20, 'b.test')];
  expect(chooseExchangers(records, 'own.test', first)).toEqual({
    kind: 'hosts',
    names: ['a.test', 'b.test', 'c.test'],
  });
});

test('tries hosts of equal preference in random order', () => {
  const records = [mx(10, 'a.test'), mx(10, 'b.test'), mx(5, 'c.test')];
  const draws = [0.9, 0.1, 0.5];
  expect(chooseExchangers(records, 'own.test', () => draws.shift() ?? 0)).toEqual({
    kind: 'hosts',
    names: ['c.test', 'b.test', 'a.test'],
  });
});

test('compares names without case and trailing dot, and tries each once', () => {
  const records = [mx(10, 'A.Test.'), mx(20, 'a.test')];
  expect(chooseExchangers(records, 'own.test', first)).toEqual({ kind: 'hosts', names: ['a.test'] });
});

test.each(['', '.'])('a single record with an empty host (%j) says that the domain takes no mail', (exchange) => {
  expect(chooseExchangers([mx(0, exchange)], 'own.test', first)).toEqual({ kind: 'null-mx' });
});

test('skips an empty host beside others', () => {
  expect(chooseExchangers([mx(0, '.'), mx(10, 'a.test')], 'own.test', first)).toEqual({
    kind: 'hosts',
    names: ['a.test'],
  });
});

test('tries only hosts that are preferred to this service', () => {
  const records = [mx(10, 'a.test'), mx(20, 'own.test'), mx(20, 'b.test'), mx(30, 'c.test')];
  expect(chooseExchangers(records, 'own.test', first)).toEqual({ kind: 'hosts', names: ['a.test'] });
});

test('detects a loop when this service is the most preferred host', () => {
  expect(chooseExchangers([mx(10, 'own.test'), mx(20, 'b.test')], 'own.test', first)).toEqual({ kind: 'loop' });
});
