import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { detectCharset } from '../../../core/shared/detect-charset.ts';
import { decodeCharset } from '../../../core/shared/text.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import {
  OTHER_SCRIPTS,
  OTHER_SCRIPTS_KEPT,
  WESTERN_TEXTS,
  WESTERN_TEXTS_KEPT,
} from '../../support/mail/unlabeled-texts.ts';

const cases = [...OTHER_SCRIPTS, ...OTHER_SCRIPTS_KEPT].flatMap(([charsets, text]) =>
  charsets.map((charset) => ({ charset, text, start: text.slice(0, 30) })),
);

test.for(cases)('reads unlabeled $charset: $start', ({ charset, text }) => {
  const bytes = iconv.encode(text, charset);
  const sent = iconv.decode(bytes, charset);
  expect(decodeCharset(bytes, null)).toBe(sent);
  expect(decodeCharset(bytes, 'us-ascii')).toBe(sent);
  expect(decodeCharset(bytes, 'x-unknown')).toBe(sent);
});

const western = [...WESTERN_TEXTS, ...WESTERN_TEXTS_KEPT].map((text) => ({ text, start: text.slice(0, 30) }));

test.for(western)('keeps Western text: $start', ({ text }) => {
  for (const part of [text, ...text.split(/[.,;:!?]/)]) {
    const bytes = iconv.encode(part, 'windows-1252');
    expect(decodeCharset(bytes, null)).toBe(part);
  }
});

test.for([
  ['windows-1250', 'Dobrý den, příliš žluťoučký kůň úpěl ďábelské ódy. Jiří Dvořák'],
  ['windows-1250', 'Szanowni Państwo, zażółć gęślą jaźń. Dziękuję, Łukasz Żółkiewski'],
  ['windows-1250', 'Árvíztűrő tükörfúrógép. Üdvözlettel, Gyöngyösi Örs'],
  ['windows-1254', 'Sayın müşterimiz, siparişiniz için teşekkür ederiz. Şükrü Çağlar'],
  ['windows-1257', 'Labas rytas, ačiū už laišką. Žąsis, ėjo, šviežias, ąžuolas'],
  ['macintosh', 'Voilà l’été déjà créé à Noël, Größe, für Übung, señor'],
  ['cp850', 'Grüße aus Köln, für die Übung, déjà vu à Noël'],
  ['cp437', '│ Name │ Größe │\r\n├──────┼───────┤\r\n│ a    │ 5     │'],
])('takes no other language with Latin letters for another script: %s', ([charset = '', text = '']) => {
  for (const part of [text, ...text.split(/\s+/)])
    expect(detectCharset(Buffer.from([...iconv.encode(part, charset), 0x20, 0xfc]))).toBe('windows-1252');
});

test('reads UTF-8 with a character that is cut, and labels of UTF-8 that are wrong', () => {
  const cut = Buffer.from('Добрый день, Анна').subarray(0, -1);
  expect(decodeCharset(cut, null)).toBe('Добрый день, Анн\ufffd');
  expect(decodeCharset(iconv.encode('Добрый день, Анна', 'koi8-r'), 'utf-8')).toBe('Добрый день, Анна');
  expect(decodeCharset(Buffer.from('f5fc20e9', 'hex'), 'utf-8')).toBe('õü é');
});

describe('a message without charsets', () => {
  const parse = (charset: string, subject: string, text: string) =>
    parseMessage(
      Buffer.concat([
        Buffer.from('From: a@b.test\r\nSubject: '),
        iconv.encode(subject, charset),
        Buffer.from('\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 8bit\r\n\r\n'),
        iconv.encode(text, charset),
      ]),
    );

  test.for(['koi8-r', 'windows-1251', 'windows-1252'])('is read in %s, with its subject', async (charset) => {
    const [subject, text] =
      charset === 'windows-1252' ? ['Grüße', 'Schöne Größe'] : ['Отчёт за март', 'Добрый день, Анна. Отчёт готов.'];
    const { subject: read, textBody } = await parse(charset, subject, text);
    expect([read, textBody?.trim()]).toEqual([subject, text]);
  });
});

test.for(['ä', 'ж'.repeat(3), '\xff', ' \xe9\xe9\xe9', '\xe9a', '\x81\x40', '\x1b$B'])(
  'reads bytes of %j in linear time, and few of them',
  (unit) => {
    const bytes = (count: number) => Buffer.from(unit.repeat(count), 'latin1');
    expectLinearGrowth((count) => detectCharset(bytes(count)), 20_000);
  },
);
