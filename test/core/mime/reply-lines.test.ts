import { describe, expect, test } from 'vitest';
import { textOfHtml } from '../../../core/html/text-of-html.ts';
import { stripQuotedHtml } from '../../../core/mime/reply-html.ts';
import { stripQuotedText } from '../../../core/mime/reply-text.ts';
import { FULL_ATTRIBUTIONS, OTHER_ATTRIBUTIONS, SHORT_ATTRIBUTIONS } from './replies/attribution-lines.ts';
import { FIELD_NAMES, MESSAGE_TITLES } from './replies/field-names.ts';
import { HTML_OWN, HTML_REPLIES } from './replies/html-replies.ts';
import { MIXED_REPLIES, MIXED_TEXTS } from './replies/mixed-replies.ts';

const OWN = 'Yes, that works for me.\n\nThanks,\nBob';
const ORIGINAL = 'Shall we meet at noon?\n\nAnn';
const QUOTED = '> Shall we meet at noon?\n>\n> Ann';
const ATTRIBUTIONS = [...FULL_ATTRIBUTIONS, ...SHORT_ATTRIBUTIONS, ...OTHER_ATTRIBUTIONS];

describe('an attribution is removed with its quotation', () => {
  test.each(ATTRIBUTIONS)('%s', (line) => {
    expect(stripQuotedText(`${OWN}\n\n${line}\n\n${QUOTED}\n`)).toBe(OWN);
    expect(stripQuotedText(`${line}\n${QUOTED}\n\n${OWN}\n`)).toBe(OWN);
  });
});

describe('a wrapped attribution is removed with its quotation', () => {
  /** Returns the line with a line break before the address, else before its last third. */
  function wrap(line: string): string {
    const address = line.indexOf('<');
    const at = line.lastIndexOf(' ', Math.max(30, address > 0 ? address : Math.floor(line.length * 0.7)));
    return at > 0 ? `${line.slice(0, at)}\n${line.slice(at + 1)}` : line;
  }

  test.each(ATTRIBUTIONS.filter((line) => line.length > 20))('%s', (line) => {
    expect(stripQuotedText(`${OWN}\n\n${wrap(line)}\n${QUOTED}\n`)).toBe(OWN);
  });
});

describe('an attribution with a date and an address is removed with what is below, which nothing marks', () => {
  test.each(FULL_ATTRIBUTIONS)('%s', (line) => {
    expect(stripQuotedText(`${OWN}\n\n${line}\n\n${ORIGINAL}\n`)).toBe(OWN);
  });
});

describe('the fields above a message are removed with it', () => {
  test.each(FIELD_NAMES)('$from, $sent, $to, $subject', ({ from, sent, to, cc, subject, date }) => {
    const fields = [`${from}: Ann Smith <ann@x.test>`, `${sent}: ${date}`, `${to}: Bob <bob@dest.test>`];
    const bare = [`${from}: Ann Smith`, `${sent}: ${date}`, `${to}: Bob`, `${subject}: Lunch`];
    const blocks = [
      [...fields, `${subject}: Lunch`],
      ['_'.repeat(32), ...fields, `${cc}: Carl <carl@x.test>`, `${subject}: Lunch`],
      [...fields, `${subject}: Lunch`].map((field) => field.replace(/^([^:]*:)/, '*$1*')),
      bare,
    ];
    for (const block of blocks) expect(stripQuotedText(`${OWN}\n\n${block.join('\n')}\n\n${ORIGINAL}\n`)).toBe(OWN);
    const html = `<p>Yes, that works for me.</p><p>Bob</p><div style="border-top:solid #E1E1E1 1.0pt"><p>${bare.join('<br>')}</p></div><p>Shall we meet?</p>`;
    expect(textOfHtml(stripQuotedHtml(html))?.replace(/\s+/g, ' ').trim()).toBe(HTML_OWN);
  });
});

describe('a title is removed with the message below', () => {
  test.each(MESSAGE_TITLES)('%s', (title) => {
    expect(stripQuotedText(`${OWN}\n\n-----${title}-----\n\n${ORIGINAL}\n`)).toBe(OWN);
    expect(stripQuotedText(`${OWN}\n\n-------- ${title} --------\n${ORIGINAL}\n`)).toBe(OWN);
  });
});

describe('the quoted message is cut out of the HTML', () => {
  test.each(HTML_REPLIES)('of %s', (_, html) => {
    expect(textOfHtml(stripQuotedHtml(html))?.replace(/\s+/g, ' ').trim()).toBe(HTML_OWN);
  });
});

describe('several quotations, footers and signatures are removed', () => {
  test.each(MIXED_REPLIES)('$name', ({ text, own }) => expect(stripQuotedText(text)).toBe(own));
});

describe('a text is not taken for quoted mail', () => {
  test.each(MIXED_TEXTS)('$name', ({ text, own }) => expect(stripQuotedText(text)).toBe(own));
});
