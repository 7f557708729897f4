import { describe, expect, test } from 'vitest';
import { checkArcChain, MAX_ARC_SETS, readTagList } from '../../../core/mime/arc-chain.ts';

type Change = (field: string) => string;

/** One set; each field may be changed, and is left out when the change returns ''. */
function arcSet(instance: number, change: { seal?: Change; signature?: Change; results?: Change } = {}): string {
  const same: Change = (field) => field;
  const seal = `ARC-Seal: i=${instance}; a=rsa-sha256; t=1700000000; cv=${instance === 1 ? 'none' : 'pass'};\r\n d=x.test; s=s1; b=AA\r\n BB==\r\n`;
  const signature = `ARC-Message-Signature: i=${instance}; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=s1;\r\n h=From:To:Subject; bh=AAAA; b=BBBB\r\n`;
  const results = `ARC-Authentication-Results: i=${instance}; mx.x.test; spf=pass\r\n`;
  return `${(change.seal ?? same)(seal)}${(change.signature ?? same)(signature)}${(change.results ?? same)(results)}`;
}

const check = (fields: string) => checkArcChain(Buffer.from(`${fields}From: joe@x.test\r\n\r\nHello\r\n`, 'latin1'));
const sets = (count: number) => Array.from({ length: count }, (_, at) => arcSet(count - at)).join('');
const seal = (from: string, to: string) => arcSet(1, { seal: (field) => field.replace(from, to) });
const signature = (from: string, to: string) => arcSet(1, { signature: (field) => field.replace(from, to) });
const results = (from: string, to: string) => arcSet(1, { results: (field) => field.replace(from, to) });

test('a message without ARC fields has no chain', () => {
  expect(check('')).toEqual({ kind: 'absent' });
});

test.each([1, 2, MAX_ARC_SETS])('a chain of %i sets is well-formed, in any order of its fields', (count) => {
  expect(check(sets(count))).toEqual({ kind: 'wellFormed' });
  expect(check(Array.from({ length: count }, (_, at) => arcSet(at + 1)).join(''))).toEqual({ kind: 'wellFormed' });
});

test('unknown tags, comments, folding and a final semicolon are allowed', () => {
  const fields = arcSet(1, {
    seal: (field) => field.replace('BB==\r\n', 'BB==; future=1 2;\r\n').replace('cv=none', 'cv = \r\n NONE'),
    results: (field) => field.replace('i=1;', ' (one) i = 1 (set) ; (by) '),
  });
  expect(check(fields)).toEqual({ kind: 'wellFormed' });
});

describe('a chain is malformed when', () => {
  test.each<[string, string]>([
    ['a set is missing', arcSet(1) + arcSet(3)],
    ['the first set is missing', arcSet(2)],
    ['a set is there twice', arcSet(1) + arcSet(1)],
    ['a seal is missing', arcSet(1, { seal: () => '' })],
    ['a signature is missing', arcSet(1, { signature: () => '' })],
    ['results are missing', arcSet(1, { results: () => '' })],
    ['a second seal has the same instance', arcSet(1) + arcSet(1, { signature: () => '', results: () => '' })],
    ['there are too many sets', sets(MAX_ARC_SETS + 1)],
    ['an instance is 0', arcSet(0)],
    ['an instance is no number', seal('i=1', 'i=one')],
    ['an instance is signed', seal('i=1', 'i=+1')],
    ['an instance is missing', seal('i=1; ', '')],
    ['the first seal says that a chain passed', seal('cv=none', 'cv=pass')],
    [
      'a seal says that the chain failed',
      arcSet(2, { seal: (field) => field.replace('cv=pass', 'cv=fail') }) + arcSet(1),
    ],
    [
      'a later seal says that there was no chain',
      arcSet(2, { seal: (field) => field.replace('cv=pass', 'cv=none') }) + arcSet(1),
    ],
    ['cv is unknown', seal('cv=none', 'cv=maybe')],
    ['a seal has h=', seal('cv=none', 'h=from; cv=none')],
    ['a tag is there twice', seal('cv=none', 'cv=none; cv=none')],
    ['a tag name is in upper case', seal('cv=none', 'CV=none')],
    ['a tag name has other characters', seal('cv=none', 'cv=none; a-b=1')],
    ['a tag has no value', seal('cv=none', 'cv=none; nothing')],
    ['there is an empty tag', seal('cv=none', 'cv=none;')],
    ['a value has control characters', seal('cv=none', 'cv=none; x=\x01')],
    ['the algorithm of a seal is rsa-sha1', seal('rsa-sha256', 'rsa-sha1')],
    ['a seal has no domain', seal(' d=x.test;', '')],
    ['a domain is no domain', seal('d=x.test', 'd=x..test')],
    ['a selector is empty', seal('s=s1', 's=')],
    ['a time is no number', seal('t=1700000000', 't=now')],
    ['a signature value is not base64', seal('BB==', 'B!')],
    ['a signature value is empty', signature('b=BBBB', 'b=')],
    ['a message signature names the seal', signature('h=From', 'h=ARC-Seal:From')],
    ['a message signature does not name From', signature('h=From:', 'h=')],
    ['a message signature has no body hash', signature('bh=AAAA; ', '')],
    ['a canonicalization is unknown', signature('relaxed/relaxed', 'nowsp')],
    ['results do not begin with the instance', results('i=1; mx.x.test;', 'mx.x.test; i=1;')],
    ['results do not name a server', results('mx.x.test; spf=pass', '')],
  ])('%s', (_, fields) => {
    expect(check(fields)).toMatchObject({ kind: 'malformed' });
  });
});

test('a tag list keeps text after the first equals sign, and the case of names', () => {
  expect(readTagList(' a=1; A = 2 = 3 ;\r\n b=;')).toEqual(
    new Map([
      ['a', '1'],
      ['A', '2 = 3'],
      ['b', ''],
    ]),
  );
});

test('fields of a megabyte are read in linear time', () => {
  for (const filler of [' ', '(', 'a=', ';', '\r\n ', 'A ', '=']) {
    const field = filler.repeat(1_000_000 / filler.length);
    for (const name of ['ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results'])
      expect(check(`${name}: i=1; b=${field}!\r\n${name}:${field}\r\n`)).toMatchObject({ kind: 'malformed' });
  }
});
