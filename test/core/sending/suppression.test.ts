import { describe, expect, test } from 'vitest';
import { suppressesAddress } from '../../../core/sending/suppression.ts';

describe('suppresses an address after a rejection of the address', () => {
  test.each([
    [550, null],
    [551, null],
    [553, null],
    [556, null],
    [521, null],
    [550, '5.1.1'],
    [550, '5.1.10'],
    [null, '5.1.2'],
    [null, '5.1.6'],
    [550, '5.2.1'],
    [550, '5.2.0'],
    [null, '5.0.0'],
    [550, '5.0.0'],
    [550, '5.4.4'],
    [550, '5.5.0'],
    // The status is the more exact word.
    [552, '5.1.1'],
    [554, '5.1.1'],
    [554, '5.4.6'],
  ])('%s %s', (code, status) => {
    expect(suppressesAddress({ code, status })).toBe(true);
  });
});

describe('does not suppress an address after a rejection for another reason', () => {
  test.each([
    ['the sender', 550, '5.1.7'],
    ['the sender', 550, '5.1.8'],
    ['a full mailbox', 552, '5.2.2'],
    ['a full mailbox', null, '5.2.2'],
    ['the size', 552, '5.2.3'],
    ['the size', 552, '5.3.4'],
    ['the commands', 554, '5.5.1'],
    ['the commands', 503, '5.5.1'],
    ['the content', 554, '5.6.0'],
    ['the content', 550, '5.6.12'],
    ['policy', 550, '5.7.0'],
    ['policy', 550, '5.7.1'],
    ['policy', null, '5.7.509'],
    ['the storage', 552, null],
    ['the storage', 552, '5.0.0'],
    ['the transaction', 554, null],
    ['the transaction', 554, '5.0.0'],
    ['the commands', 501, null],
    ['the authentication', 530, null],
  ])('%s: %s %s', (_, code, status) => {
    expect(suppressesAddress({ code, status })).toBe(false);
  });
});

describe('does not suppress an address after a reply that is not a permanent rejection', () => {
  test.each([
    [450, null],
    [451, '4.7.1'],
    [null, '4.2.2'],
    [null, '4.0.0'],
    [250, null],
    [null, '2.1.5'],
    [null, null],
    [null, 'nonsense'],
  ])('%s %s', (code, status) => {
    expect(suppressesAddress({ code, status })).toBe(false);
  });
});
